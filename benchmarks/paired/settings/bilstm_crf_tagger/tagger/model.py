import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tagger.crf import CRF


class BiLSTMCRF(nn.Module):
    def __init__(self, n_words, tags, emb=16, hidden=16, p=0.2):
        super().__init__()
        self.emb = nn.Embedding(n_words, emb, padding_idx=0)
        self.drop = nn.Dropout(p)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True, bidirectional=True)
        self.proj = nn.Linear(2 * hidden, len(tags))
        self.crf = CRF(tags)

    def emissions(self, words, lengths):
        packed = pack_padded_sequence(self.drop(self.emb(words)), lengths.cpu(), batch_first=True,
                                      enforce_sorted=False)
        out, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=words.size(1))
        return self.proj(self.drop(out))

    def loss(self, words, lengths, tags):
        return self.crf.neg_log_likelihood(self.emissions(words, lengths), tags, words.ne(0))

    def tag(self, words, lengths, constrain=True):
        return self.crf.viterbi(self.emissions(words, lengths), words.ne(0), constrain)
