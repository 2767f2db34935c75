from collections import namedtuple

import torch
import torch.nn.functional as F

from vocab import BOS, EOS

Hypothesis = namedtuple('Hypothesis', ['value', 'score'])


@torch.no_grad()
def beam_search(model, src, lengths, beam_size=3, max_len=12):
    """Beam search for one sentence; returns hypotheses, best first."""
    memory, mask, (h, feed) = model.encode(src, lengths)
    device = model.device
    live = [[BOS]]
    live_scores = torch.zeros(1, device=device)
    done = []

    for _ in range(max_len):
        n = len(live)
        prev = torch.tensor([hyp[-1] for hyp in live], dtype=torch.long, device=device)
        logits, (h, feed) = model.decoder.step(
            prev, (h, feed), memory.expand(n, -1, -1), mask.expand(n, -1))
        log_p = F.log_softmax(logits, dim=-1)
        total = (live_scores.unsqueeze(1) + log_p).view(-1)
        top_scores, top_pos = total.topk(min(beam_size - len(done), total.numel()))

        new_live, parents, new_scores = [], [], []
        for score, pos in zip(top_scores.tolist(), top_pos.tolist()):
            parent, word = divmod(pos, log_p.size(-1))
            hyp = live[parent] + [word]
            if word == EOS:
                done.append(Hypothesis(hyp[1:], score / len(hyp)))
            else:
                new_live.append(hyp)
                parents.append(parent)
                new_scores.append(score)
        if not new_live or len(done) >= beam_size:
            break
        live = new_live
        parents = torch.tensor(parents, dtype=torch.long, device=device)
        live_scores = torch.tensor(new_scores, device=device)
        h, feed = h.index_select(0, parents), feed.index_select(0, parents)

    if not done:
        done.append(Hypothesis(live[0][1:], live_scores[0].item()))
    return sorted(done, key=lambda x: -x.score)
