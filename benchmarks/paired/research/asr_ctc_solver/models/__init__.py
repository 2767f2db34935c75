from models.deepspeech import DeepSpeechLite
from models.tdnn import TDNN


def build_model(name, input_dim, vocab_size, **kwargs):
    if name == "deepspeech":
        return DeepSpeechLite(input_dim, vocab_size, **kwargs)
    elif name == "tdnn":
        return TDNN(input_dim, vocab_size, **kwargs)
    else:
        raise NotImplementedError(name)
