import torch
from torch import nn
from torch.optim import Adam

from moelib import MoE


def spirals(n, arms):
    """one arm of a spiral per class, lifted to 16 dims"""
    y = torch.randint(arms, (n,))
    r = torch.rand(n)
    a = 4 * r + 2 * torch.pi * y / arms + 0.1 * torch.randn(n)
    xy = torch.stack([r * a.cos(), r * a.sin()], 1)
    freq = torch.arange(1, 5)
    z = xy[:, :, None] * freq
    return torch.cat([z.sin(), z.cos()], dim=2).flatten(1), y


def train(x, y, model, loss_fn, optim, steps):
    model.train()
    for step in range(steps):
        pick = torch.randint(len(x), (64,), device=x.device)
        y_hat, aux_loss, load = model(x[pick])
        total_loss = loss_fn(torch.log(y_hat + 1e-8), y[pick]) + aux_loss
        optim.zero_grad()
        total_loss.backward()
        optim.step()
        if step % 20 == 0:
            print(f"step {step}: loss {total_loss.item():.3f} aux {aux_loss.item():.4f} "
                  f"load {[round(v) for v in load.tolist()]}")


def evaluate(x, y, model, loss_fn):
    model.eval()
    with torch.no_grad():
        y_hat, aux_loss, _ = model(x)
    acc = (y_hat.argmax(1) == y).float().mean()
    print("Evaluation Results - loss: {:.3f}, acc: {:.3f}".format(loss_fn(torch.log(y_hat + 1e-8), y).item(), acc.item()))


def main():
    torch.manual_seed(0)
    if torch.cuda.is_available():
        device = torch.device("cuda")
    else:
        device = torch.device("cpu")
    model = MoE(input_size=16, output_size=3, num_experts=6, hidden_size=32, k=2).to(device)
    optim = Adam(model.parameters(), lr=1e-2)
    loss_fn = nn.NLLLoss()
    x, y = spirals(500, 3)
    x, y = x.to(device), y.to(device)
    train(x[:400], y[:400], model, loss_fn, optim, steps=61)
    evaluate(x[400:], y[400:], model, loss_fn)


if __name__ == "__main__":
    main()
