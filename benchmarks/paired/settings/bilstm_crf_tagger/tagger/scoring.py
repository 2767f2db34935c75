def spans(tags):
    out, start = set(), None
    for i, t in enumerate(list(tags) + ["O"]):
        if start is not None and not (t.startswith("I-") and t[2:] == tags[start][2:]):
            out.add((start, i, tags[start][2:]))
            start = None
        if t.startswith("B-"):
            start = i
    return out


class SpanF1:
    def __init__(self):
        self.tp = self.fp = self.fn = 0

    def update(self, gold, pred):
        g, p = spans(gold), spans(pred)
        self.tp += len(g & p)
        self.fp += len(p - g)
        self.fn += len(g - p)

    def compute(self):
        return 2 * self.tp / max(1, 2 * self.tp + self.fp + self.fn)
