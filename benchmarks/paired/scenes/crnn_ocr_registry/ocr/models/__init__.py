from . import crnn, decoder
