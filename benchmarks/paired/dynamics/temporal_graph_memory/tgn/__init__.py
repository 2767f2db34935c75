from tgn.events import EventLog, synthetic_interactions
from tgn.memory import NodeMemory
from tgn.model import TGN

__all__ = ["EventLog", "synthetic_interactions", "NodeMemory", "TGN"]
