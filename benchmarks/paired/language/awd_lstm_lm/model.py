import torch
import torch.nn as nn

from embed_regularize import embedded_dropout
from locked_dropout import LockedDropout


class RNNModel(nn.Module):
    """Container module with an encoder, a recurrent module, and a decoder."""

    def __init__(self, ntoken, ninp, nhid, nlayers, dropout=0.3, dropouth=0.2, dropouti=0.2, dropoute=0.1,
                 tie_weights=True):
        super(RNNModel, self).__init__()
        self.lockdrop = LockedDropout()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnns = nn.ModuleList([
            nn.LSTM(ninp if l == 0 else nhid, nhid if l != nlayers - 1 else (ninp if tie_weights else nhid), 1)
            for l in range(nlayers)])
        self.decoder = nn.Linear(ninp if tie_weights else nhid, ntoken)
        if tie_weights:
            self.decoder.weight = self.encoder.weight
        self.encoder.weight.data.uniform_(-0.1, 0.1)
        self.decoder.bias.data.fill_(0)

        self.ninp, self.nhid, self.nlayers = ninp, nhid, nlayers
        self.dropout, self.dropouth, self.dropouti, self.dropoute = dropout, dropouth, dropouti, dropoute
        self.tie_weights = tie_weights

    def forward(self, input, hidden):
        emb = embedded_dropout(self.encoder, input, dropout=self.dropoute if self.training else 0)
        raw_output = self.lockdrop(emb, self.dropouti)
        new_hidden = []
        for l, rnn in enumerate(self.rnns):
            raw_output, new_h = rnn(raw_output, hidden[l])
            new_hidden.append(new_h)
            if l != self.nlayers - 1:
                raw_output = self.lockdrop(raw_output, self.dropouth)
        output = self.lockdrop(raw_output, self.dropout)
        decoded = self.decoder(output.view(-1, output.size(2)))
        return decoded, new_hidden, raw_output, output

    def init_hidden(self, bsz):
        weight = next(self.parameters()).data
        sizes = [self.nhid if l != self.nlayers - 1 else (self.ninp if self.tie_weights else self.nhid)
                 for l in range(self.nlayers)]
        return [(weight.new_zeros(1, bsz, s), weight.new_zeros(1, bsz, s)) for s in sizes]
