import torch


@torch.no_grad()
def retrieval_metrics(accelerator, model, dataloader):
    model.eval()
    left, right = [], []
    for batch in dataloader:
        out = model(**batch)
        a, b = accelerator.gather_for_metrics((out["left"], out["right"]))
        left.append(a)
        right.append(b)
    sim = torch.cat(left) @ torch.cat(right).t()
    rank = (sim > sim.diag().unsqueeze(1)).sum(1)
    return {
        "recall@1": (rank == 0).float().mean().item(),
        "recall@5": (rank < 5).float().mean().item(),
        "mrr": (1.0 / (rank + 1)).mean().item(),
    }
