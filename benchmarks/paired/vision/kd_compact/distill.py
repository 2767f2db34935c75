import torch
import torch.nn.functional as F


def kd_loss(student_logits, teacher_logits, labels, temperature, alpha):
    soft = F.kl_div(
        F.log_softmax(student_logits / temperature, dim=1),
        F.softmax(teacher_logits / temperature, dim=1),
        reduction="batchmean",
    ) * temperature ** 2
    return alpha * soft + (1 - alpha) * F.cross_entropy(student_logits, labels)


def train_supervised(model, loader, epochs, lr, device):
    model.to(device).train()
    opt = torch.optim.AdamW(model.parameters(), lr=lr)
    for _ in range(epochs):
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            loss = F.cross_entropy(model(x)[0], y)
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


def train_student(student, regressor, teacher, loader, cfg):
    device = cfg.device
    student.to(device).train()
    regressor.to(device)
    params = list(student.parameters()) + list(regressor.parameters())
    opt = torch.optim.AdamW(params, lr=cfg.lr)
    for epoch in range(cfg.student_epochs):
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            with torch.no_grad():
                t_logits, t_feat = teacher(x)
            s_logits, s_feat = student(x)
            loss = kd_loss(s_logits, t_logits, y, cfg.temperature, cfg.alpha)
            loss = loss + cfg.hint_weight * F.mse_loss(regressor(s_feat, t_feat.shape[-2:]), t_feat)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"student epoch {epoch}: loss {loss.item():.4f}")


@torch.no_grad()
def accuracy(model, loader):
    device = next(model.parameters()).device
    model.eval()
    hits = sum((model(x.to(device))[0].argmax(1).cpu() == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)
