from .bank import FeatureBank
from .encoder import Encoder, GeM
from .expansion import alpha_query_expansion
