import torch
from torch.utils.data import DataLoader, TensorDataset


def gaussian_nll(y, mean, log_var):
    return 0.5 * (log_var + (y - mean) ** 2 / log_var.exp()).mean()


def fit(model, x, y, epochs, lr, device):
    model.to(device)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    history = []
    for _ in range(epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            xb, yb = xb.to(device), yb.to(device)
            opt.zero_grad()
            loss = gaussian_nll(yb, *model(xb))
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
        history.append(total / len(x))
    return history
