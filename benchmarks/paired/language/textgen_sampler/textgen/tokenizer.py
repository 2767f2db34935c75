class ByteTokenizer:
    def __init__(self, text: str):
        self.chars = sorted(set(text))
        self.index = {c: i for i, c in enumerate(self.chars)}

    @property
    def vocab_size(self) -> int:
        return len(self.chars)

    def encode(self, text: str):
        return [self.index[c] for c in text if c in self.index]

    def decode(self, ids) -> str:
        return "".join(self.chars[i] for i in ids)
