import torch.nn.functional as F

from rlhf.preferences import PROMPT


def move(batch, device):
    return {k: v.to(device) for k, v in batch.items()}


def completion_logp(model, ids):
    logits, _ = model(ids[:, :-1])
    logp = logits.log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    return logp[:, PROMPT - 1:].sum(1)


def pair_logp(model, batch):
    return completion_logp(model, batch["chosen"]), completion_logp(model, batch["rejected"])


def dpo(policy, reference, beta, smoothing=0.0):
    """policy, reference: (chosen, rejected) log-probabilities"""
    margin = beta * ((policy[0] - reference[0]) - (policy[1] - reference[1]))
    loss = -(1 - smoothing) * F.logsigmoid(margin) - smoothing * F.logsigmoid(-margin)
    return loss, margin


def ipo(policy, reference, beta, smoothing=0.0):
    margin = (policy[0] - reference[0]) - (policy[1] - reference[1])
    return (margin - 1 / (2 * beta)) ** 2, margin


LOSSES = {"dpo": dpo, "ipo": ipo}
