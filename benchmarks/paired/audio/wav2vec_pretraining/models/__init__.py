from models.quantizer import GumbelQuantizer
from models.wav2vec import Wav2Vec
