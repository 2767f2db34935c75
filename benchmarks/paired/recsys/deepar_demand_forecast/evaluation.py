import torch


def quantile_loss(y, q_hat, q):
    err = y - q_hat
    return 2 * torch.maximum(q * err, (q - 1) * err).sum()


def summarize(paths, actual, quantiles=(0.1, 0.5, 0.9)):
    """paths (S, B, H) and actual (B, H), both host tensors"""
    qs = torch.quantile(paths, torch.tensor(quantiles), dim=0)
    denom = actual.abs().sum()
    report = {f"wQL[{q}]": (quantile_loss(actual, qs[i], q) / denom).item() for i, q in enumerate(quantiles)}
    report["coverage80"] = ((actual >= qs[0]) & (actual <= qs[-1])).float().mean().item()
    report["mape_mean"] = ((paths.mean(0) - actual).abs() / (actual + 1)).mean().item()
    return report
