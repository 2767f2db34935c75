"""BiLSTM-CRF part-of-speech tagger (notebook version, cells merged)."""
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(1)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")

START_TAG = "<START>"
STOP_TAG = "<STOP>"
EMBEDDING_DIM = 8
HIDDEN_DIM = 8

# %% data
training_data = [
    ("the dog ate the apple".split(), "DET NN V DET NN".split()),
    ("everybody read that book".split(), "NN V DET NN".split()),
    ("a cat sleeps".split(), "DET NN V".split()),
    ("she quickly closed the old door".split(), "PRP ADV V DET ADJ NN".split()),
    ("he likes green tea".split(), "PRP V ADJ NN".split()),
]

word_to_ix = {}
for sentence, tags in training_data:
    for word in sentence:
        if word not in word_to_ix:
            word_to_ix[word] = len(word_to_ix)

tag_to_ix = {}
for _, tags in training_data:
    for t in tags:
        tag_to_ix.setdefault(t, len(tag_to_ix))
tag_to_ix[START_TAG] = len(tag_to_ix)
tag_to_ix[STOP_TAG] = len(tag_to_ix)
ix_to_tag = {v: k for k, v in tag_to_ix.items()}


def prepare_sequence(seq, to_ix):
    idxs = [to_ix[w] for w in seq]
    return torch.tensor(idxs, dtype=torch.long, device=device)


# %% model
class BiLSTM_CRF(nn.Module):

    def __init__(self, vocab_size, tag_to_ix, embedding_dim, hidden_dim):
        super(BiLSTM_CRF, self).__init__()
        self.hidden_dim = hidden_dim
        self.tag_to_ix = tag_to_ix
        self.tagset_size = len(tag_to_ix)

        self.word_embeds = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, num_layers=1, bidirectional=True)
        self.hidden2tag = nn.Linear(hidden_dim, self.tagset_size)

        # entry i,j is the score of transitioning *to* i *from* j
        self.transitions = nn.Parameter(torch.randn(self.tagset_size, self.tagset_size))
        self.transitions.data[tag_to_ix[START_TAG], :] = -10000
        self.transitions.data[:, tag_to_ix[STOP_TAG]] = -10000

    def init_hidden(self):
        return (torch.randn(2, 1, self.hidden_dim // 2, device=device),
                torch.randn(2, 1, self.hidden_dim // 2, device=device))

    def _forward_alg(self, feats):
        forward_var = torch.full((self.tagset_size,), -10000., device=device)
        forward_var[self.tag_to_ix[START_TAG]] = 0.
        for feat in feats:
            # broadcast over the previous tag (columns)
            scores = forward_var.unsqueeze(0) + self.transitions + feat.unsqueeze(1)
            forward_var = torch.logsumexp(scores, dim=1)
        terminal_var = forward_var + self.transitions[self.tag_to_ix[STOP_TAG]]
        return torch.logsumexp(terminal_var, dim=0)

    def _get_lstm_features(self, sentence):
        embeds = self.word_embeds(sentence).view(len(sentence), 1, -1)
        lstm_out, _ = self.lstm(embeds, self.init_hidden())
        lstm_out = lstm_out.view(len(sentence), self.hidden_dim)
        return self.hidden2tag(lstm_out)

    def _score_sentence(self, feats, tags):
        score = torch.zeros(1, device=device)
        tags = torch.cat([torch.tensor([self.tag_to_ix[START_TAG]], dtype=torch.long, device=device), tags])
        for i, feat in enumerate(feats):
            score = score + self.transitions[tags[i + 1], tags[i]] + feat[tags[i + 1]]
        score = score + self.transitions[self.tag_to_ix[STOP_TAG], tags[-1]]
        return score

    def _viterbi_decode(self, feats):
        backpointers = []
        forward_var = torch.full((self.tagset_size,), -10000., device=device)
        forward_var[self.tag_to_ix[START_TAG]] = 0

        for feat in feats:
            next_tag_var = forward_var.unsqueeze(0) + self.transitions
            viterbivars, best_ids = next_tag_var.max(dim=1)
            forward_var = viterbivars + feat
            backpointers.append(best_ids.tolist())

        terminal_var = forward_var + self.transitions[self.tag_to_ix[STOP_TAG]]
        best_tag_id = int(terminal_var.argmax())
        path_score = terminal_var[best_tag_id]

        best_path = [best_tag_id]
        for bptrs_t in reversed(backpointers):
            best_tag_id = bptrs_t[best_tag_id]
            best_path.append(best_tag_id)
        start = best_path.pop()
        assert start == self.tag_to_ix[START_TAG]
        best_path.reverse()
        return path_score, best_path

    def neg_log_likelihood(self, sentence, tags):
        feats = self._get_lstm_features(sentence)
        forward_score = self._forward_alg(feats)
        gold_score = self._score_sentence(feats, tags)
        return (forward_score - gold_score).squeeze()

    def forward(self, sentence):
        lstm_feats = self._get_lstm_features(sentence)
        return self._viterbi_decode(lstm_feats)


# %% training
model = BiLSTM_CRF(len(word_to_ix), tag_to_ix, EMBEDDING_DIM, HIDDEN_DIM).to(device)
optimizer = optim.SGD(model.parameters(), lr=0.05, weight_decay=1e-4)

with torch.no_grad():
    precheck_sent = prepare_sequence(training_data[0][0], word_to_ix)
    score, path = model(precheck_sent)
    print("before:", score.item(), [ix_to_tag[i] for i in path])

for epoch in range(6):
    total = 0.
    for sentence, tags in training_data:
        model.zero_grad()
        sentence_in = prepare_sequence(sentence, word_to_ix)
        targets = prepare_sequence(tags, tag_to_ix)
        loss = model.neg_log_likelihood(sentence_in, targets)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print("epoch {} loss {:.3f}".format(epoch, total / len(training_data)))

# %% check
with torch.no_grad():
    score, path = model(precheck_sent)
    print("after:", score.item(), [ix_to_tag[i] for i in path])
