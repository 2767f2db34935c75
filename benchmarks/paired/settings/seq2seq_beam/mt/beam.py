import torch

from mt.corpus import BOS, EOS, PAD


@torch.no_grad()
def beam_search(model, sentence, width=3, max_len=8, length_penalty=0.7):
    """Best hypothesis (list of ids) for one source sentence (list of ids)."""
    device = model.device
    src = torch.tensor([sentence + [EOS]], device=device)
    mem, bias = model.encode(src)
    beams = torch.full((1, 1), BOS, device=device)
    scores = torch.zeros(1, device=device)
    done = []
    for _ in range(max_len):
        k = beams.size(0)
        logp = model.decode(beams, mem.expand(k, -1, -1), bias.expand(k, -1, -1, -1))[:, -1].log_softmax(-1)
        logp[:, PAD] = float("-inf")
        total, flat = (scores[:, None] + logp).view(-1).topk(width)
        origin, token = flat // logp.size(1), flat % logp.size(1)
        beams = torch.cat([beams[origin], token[:, None]], dim=1)
        ended = token.eq(EOS)
        for hyp, s in zip(beams[ended].cpu(), total[ended].cpu()):
            done.append((s.item() / (len(hyp) ** length_penalty), hyp[1:-1].tolist()))
        if len(done) >= width or ended.all():
            break
        beams, scores = beams[~ended], total[~ended]
    if not done:
        return beams[0, 1:].tolist()
    return max(done)[1]
