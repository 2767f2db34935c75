from .decode import greedy_decode, edit_distance
from .misc import get_device, AverageMeter
