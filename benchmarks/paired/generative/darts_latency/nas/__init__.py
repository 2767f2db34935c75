from .architect import Architect
from .supernet import SuperNet
