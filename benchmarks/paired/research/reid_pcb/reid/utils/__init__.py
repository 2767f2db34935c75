from .meters import AverageMeter
from .ranking import evaluate_rank
from .serialization import save_checkpoint
