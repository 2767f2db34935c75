from .box_utils import decode, match, nms, point_form
from .detection import Detect
from .multibox_loss import MultiBoxLoss
from .prior_box import PriorBox
