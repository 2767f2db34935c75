import torch
import torch.nn as nn

from src.word_att_model import AttentionWithContext, WordAttNet, run_packed


class HierAttNet(nn.Module):
    def __init__(self, vocab_size, num_classes, embed_size=20, word_hidden=12, sent_hidden=12, dropout=0.2):
        super(HierAttNet, self).__init__()
        self.word_att_net = WordAttNet(vocab_size, embed_size, word_hidden)
        self.sent_gru = nn.GRU(2 * word_hidden, sent_hidden, bidirectional=True, batch_first=True)
        self.sent_attention = AttentionWithContext(2 * sent_hidden, 2 * sent_hidden)
        self.dropout = nn.Dropout(dropout)
        self.fc = nn.Linear(2 * sent_hidden, num_classes)

    def forward(self, docs, sent_lengths, doc_lengths):
        """
        docs: documents x sentences x words
        sent_lengths: documents x sentences, 0 for padding
        doc_lengths: documents
        """
        n, s, w = docs.size()
        # empty sentences still need a length of one for packing
        vectors, word_alpha = self.word_att_net(docs.view(n * s, w), sent_lengths.view(-1).clamp(min=1))
        vectors = vectors.view(n, s, -1)
        out = run_packed(self.sent_gru, vectors, doc_lengths)
        mask = torch.arange(s, device=docs.device).unsqueeze(0) < doc_lengths.unsqueeze(1)
        doc, sent_alpha = self.sent_attention(out, mask)
        return self.fc(self.dropout(doc)), sent_alpha, word_alpha.view(n, s, w)
