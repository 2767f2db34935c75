from .convert import calibrate, prepare
from .fake_quant import QuantConv2d, QuantLinear
