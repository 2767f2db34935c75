import torch
import torch.nn.functional as F

from vocab import BOS, EOS, PAD


@torch.no_grad()
def beam_search(model, width=4, max_len=20, length_penalty=0.7):
    """Returns the finished sequences of the beam, best first."""
    model.eval()
    dev = model.device
    tokens = torch.full((width, 1), BOS, dtype=torch.long, device=dev)
    # all beams start equal: only the first may be expanded in step one
    scores = torch.full((width,), float("-inf"), device=dev)
    scores[0] = 0.0
    done = torch.zeros(width, dtype=torch.bool, device=dev)
    state = None

    for _ in range(max_len):
        logits, state = model(tokens[:, -1:], state)
        logp = F.log_softmax(logits[:, -1], dim=-1)
        logp[:, BOS] = float("-inf")
        logp[:, PAD] = float("-inf")
        # finished beams may only be padded, at no cost
        logp[done] = float("-inf")
        logp[done, PAD] = 0.0

        n_vocab = logp.size(1)
        total = (scores.unsqueeze(1) + logp).view(-1)
        scores, flat = total.topk(width)
        parent = torch.div(flat, n_vocab, rounding_mode="floor")
        nxt = flat % n_vocab

        tokens = torch.cat([tokens[parent], nxt.unsqueeze(1)], dim=1)
        state = state[:, parent].contiguous()
        done = done[parent] | (nxt == EOS)
        if done.all():
            break

    lengths = (tokens > PAD).sum(1).float()
    final = scores / lengths.pow(length_penalty)
    order = final.argsort(descending=True)
    return tokens[order].tolist(), final[order].tolist()


@torch.no_grad()
def sample(model, n, max_len=20, temperature=1.0):
    model.eval()
    tok = torch.full((n, 1), BOS, dtype=torch.long, device=model.device)
    out, state = [], None
    for _ in range(max_len):
        logits, state = model(tok, state)
        tok = torch.multinomial(F.softmax(logits[:, -1] / temperature, dim=-1), 1)
        out.append(tok)
    return torch.cat(out, dim=1).tolist()
