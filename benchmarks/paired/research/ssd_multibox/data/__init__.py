from .config import shapes_cfg
from .shapes import ShapesDetection, detection_collate
