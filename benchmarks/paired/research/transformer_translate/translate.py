''' Translate input text with trained model. '''
import torch

import transformer.Constants as Constants
from transformer.Models import Transformer
from transformer.Translator import Translator


def load_model(path, device):
    checkpoint = torch.load(path, map_location=device)
    opt = checkpoint['settings']
    model = Transformer(opt['vocab'], opt['vocab'], Constants.PAD, Constants.PAD,
                        d_model=opt['d_model'], d_inner=opt['d_inner_hid']).to(device)
    model.load_state_dict(checkpoint['model'])
    print('[Info] Trained model state loaded.')
    return model


def bleu1(hyp, ref):
    hyp = [w for w in hyp if w > Constants.EOS]
    ref = [w for w in ref if w > Constants.EOS]
    return sum(min(hyp.count(w), ref.count(w)) for w in set(hyp)) / max(len(hyp), 1)


def translate(path, sentences, device, beam_size=3, max_seq_len=9):
    translator = Translator(
        model=load_model(path, device), beam_size=beam_size, max_seq_len=max_seq_len,
        src_pad_idx=Constants.PAD, trg_pad_idx=Constants.PAD,
        trg_bos_idx=Constants.BOS, trg_eos_idx=Constants.EOS).to(device)
    score = 0.
    for src, trg in sentences:
        pred = translator.translate_sentence(torch.LongTensor([src]).to(device))
        score += bleu1(pred, trg)
    print('[Info] Finished. BLEU-1 {:.3f}'.format(score / len(sentences)))
