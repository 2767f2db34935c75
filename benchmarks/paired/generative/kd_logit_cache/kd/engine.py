import torch


def move(obj, device):
    """Recursively transfer the tensors of a collated batch."""
    if torch.is_tensor(obj):
        return obj.to(device, non_blocking=True)
    if isinstance(obj, dict):
        return {k: move(v, device) for k, v in obj.items()}
    if isinstance(obj, (list, tuple)):
        return type(obj)(move(v, device) for v in obj)
    return obj


@torch.no_grad()
def dump_logits(model, loader, device, num_classes):
    """Teacher outputs in data set order, in host memory."""
    store = torch.empty(len(loader.dataset), num_classes)
    model.eval()
    for batch in loader:
        index = batch["meta"]["index"]
        store[index] = model(batch["image"].to(device)).cpu()
    return store


def fit_plain(model, loader, device, epochs, lr):
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for _ in range(epochs):
        model.train()
        for batch in loader:
            batch = move(batch, device)
            loss = torch.nn.functional.cross_entropy(model(batch["image"]), batch["label"])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return model


def distill(student, loader, criterion, device, epochs, lr, min_conf):
    opt = torch.optim.SGD(student.parameters(), lr=lr, momentum=0.9)
    for epoch in range(epochs):
        student.train()
        total, kept = 0.0, 0
        for batch in loader:
            batch = move(batch, device)
            soft, conf = batch["targets"]
            keep = conf > min_conf
            if not keep.any():
                continue
            out = student(batch["image"])
            loss = criterion(out[keep], soft[keep], batch["label"][keep])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * int(keep.sum())
            kept += int(keep.sum())
        yield epoch, total / max(kept, 1), kept


@torch.no_grad()
def accuracy(model, loader):
    device = next(model.parameters()).device
    model.eval()
    hits = [model(b["image"].to(device)).argmax(1).cpu() == b["label"] for b in loader]
    return torch.cat(hits).float().mean().item()
