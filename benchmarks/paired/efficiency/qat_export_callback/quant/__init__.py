from .fake_quant import FakeQuantize, QuantLinear, prepare_qat
from .export import Int8Model, size_in_bytes
