import numpy as np

import config

PAD_ID, UNK_ID, START_ID, STOP_ID = 0, 1, 2, 3


class Example(object):
    def __init__(self, rng):
        n = rng.randint(8, config.max_enc_steps + 1)
        article = rng.randint(4, config.n_words, n)
        abstract = article[:config.max_dec_steps - 1]

        self.enc_len = n
        self.enc_input = [w if w < config.vocab_size else UNK_ID for w in article]
        # temporary ids for the words of this article that are not in the vocabulary
        self.oovs = []
        self.enc_input_extend_vocab = []
        for w in article:
            if w >= config.vocab_size:
                if w not in self.oovs:
                    self.oovs.append(w)
                w = config.vocab_size + self.oovs.index(w)
            self.enc_input_extend_vocab.append(w)
        target = [w if w < config.vocab_size else config.vocab_size + self.oovs.index(w) for w in abstract]
        self.dec_input = [START_ID] + [w if w < config.vocab_size else UNK_ID for w in abstract]
        self.target = target + [STOP_ID]
        self.dec_len = len(self.target)


class Batch(object):
    def __init__(self, examples):
        examples.sort(key=lambda ex: ex.enc_len, reverse=True)
        n, max_enc = len(examples), max(ex.enc_len for ex in examples)
        self.batch_size = n
        self.enc_batch = np.zeros((n, max_enc), dtype=np.int64)
        self.enc_batch_extend_vocab = np.zeros((n, max_enc), dtype=np.int64)
        self.enc_padding_mask = np.zeros((n, max_enc), dtype=np.float32)
        self.enc_lens = np.array([ex.enc_len for ex in examples], dtype=np.int64)
        self.dec_batch = np.zeros((n, config.max_dec_steps), dtype=np.int64)
        self.target_batch = np.zeros((n, config.max_dec_steps), dtype=np.int64)
        self.dec_padding_mask = np.zeros((n, config.max_dec_steps), dtype=np.float32)
        self.dec_lens = np.array([ex.dec_len for ex in examples], dtype=np.int64)
        for i, ex in enumerate(examples):
            self.enc_batch[i, :ex.enc_len] = ex.enc_input
            self.enc_batch_extend_vocab[i, :ex.enc_len] = ex.enc_input_extend_vocab
            self.enc_padding_mask[i, :ex.enc_len] = 1
            self.dec_batch[i, :ex.dec_len] = ex.dec_input
            self.target_batch[i, :ex.dec_len] = ex.target
            self.dec_padding_mask[i, :ex.dec_len] = 1
        self.max_art_oovs = max(len(ex.oovs) for ex in examples)


class Batcher(object):
    def __init__(self, seed=123):
        self.rng = np.random.RandomState(seed)

    def next_batch(self):
        return Batch([Example(self.rng) for _ in range(config.batch_size)])
