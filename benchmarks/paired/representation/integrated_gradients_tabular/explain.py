# %% [markdown]
# # Which features drive churn? Integrated gradients by hand
# Notebook exported to a script.

# %%
import numpy as np
import pandas as pd
import torch
import torch.nn as nn

SEED = 3
np.random.seed(SEED)
torch.manual_seed(SEED)
device = "cuda" if torch.cuda.is_available() else "cpu"

# %% fabricate a customer table
N = 600
df = pd.DataFrame({
    "tenure": np.random.gamma(2.0, 12.0, N),
    "monthly_fee": np.random.normal(60, 20, N),
    "calls_support": np.random.poisson(1.5, N),
    "discount": np.random.binomial(1, 0.3, N),
    "noise_a": np.random.randn(N),
    "noise_b": np.random.randn(N),
})
score = -0.06 * df.tenure + 0.03 * df.monthly_fee + 0.9 * df.calls_support - 1.2 * df.discount - 1.0
df["churn"] = (np.random.rand(N) < 1 / (1 + np.exp(-score))).astype(int)
features = [c for c in df.columns if c != "churn"]

X = df[features].to_numpy(np.float32)
X = (X - X.mean(0)) / X.std(0)
y = df["churn"].to_numpy(np.float32)
cut = int(0.8 * N)
X_train, y_train = torch.tensor(X[:cut]).to(device), torch.tensor(y[:cut]).to(device)
X_test, y_test = torch.tensor(X[cut:]).to(device), torch.tensor(y[cut:]).to(device)

# %% model
net = nn.Sequential(
    nn.Linear(len(features), 32), nn.GELU(), nn.Dropout(0.1),
    nn.Linear(32, 32), nn.GELU(),
    nn.Linear(32, 1),
).to(device)
opt = torch.optim.AdamW(net.parameters(), lr=5e-3, weight_decay=1e-3)
bce = nn.BCEWithLogitsLoss()

for epoch in range(25):
    net.train()
    perm = torch.randperm(cut)
    running = 0.0
    for chunk in perm.split(64):
        opt.zero_grad()
        loss = bce(net(X_train[chunk]).squeeze(1), y_train[chunk])
        loss.backward()
        opt.step()
        running += loss.item() * len(chunk)
    if epoch % 8 == 0:
        print(f"epoch {epoch:2d}  loss {running / cut:.4f}")

net.eval()
with torch.no_grad():
    acc = ((net(X_test).squeeze(1) > 0).float() == y_test).float().mean()
print("test accuracy", round(acc.item(), 3))


# %% integrated gradients
def integrated_gradients(model, inputs, baseline=None, steps=32):
    """Riemann (midpoint) approximation of the path integral from `baseline` to `inputs`."""
    if baseline is None:
        baseline = torch.zeros_like(inputs)
    alphas = (torch.arange(steps, device=inputs.device) + 0.5) / steps
    path = baseline + alphas.view(-1, 1, 1) * (inputs - baseline)
    path.requires_grad_(True)
    out = model(path.flatten(0, 1))
    grads, = torch.autograd.grad(out.sum(), path)
    return (inputs - baseline) * grads.mean(0)


median = X_train.median(dim=0).values.expand_as(X_test)
attributions = {
    "zero baseline": integrated_gradients(net, X_test),
    "median baseline": integrated_gradients(net, X_test, baseline=median),
}

# %% completeness check: attributions must sum to f(x) - f(baseline)
with torch.no_grad():
    delta = net(X_test) - net(median)
gap = (attributions["median baseline"].sum(1, keepdim=True) - delta).abs().max()
print("completeness gap", round(gap.item(), 4))

# %% report
report = pd.DataFrame(
    {name: a.detach().abs().mean(0).cpu().numpy() for name, a in attributions.items()}, index=features
)
print(report.sort_values("median baseline", ascending=False).round(3).to_string())
