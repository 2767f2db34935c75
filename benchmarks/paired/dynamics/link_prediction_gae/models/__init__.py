from .gcn import GCNEncoder
from .decoder import BilinearDecoder, LinkPredictor

__all__ = ["GCNEncoder", "BilinearDecoder", "LinkPredictor"]
