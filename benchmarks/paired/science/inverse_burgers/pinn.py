import numpy as np
import torch

from network import DNN

if torch.cuda.is_available():
    device = torch.device('cuda')
else:
    device = torch.device('cpu')


class PhysicsInformedNN(torch.nn.Module):
    """Learns u(x, t) and the coefficients of Burgers' equation from data."""

    def __init__(self, X, u, layers, lb, ub):
        super(PhysicsInformedNN, self).__init__()
        self.lb = torch.tensor(lb).float().to(device)
        self.ub = torch.tensor(ub).float().to(device)

        self.x = torch.tensor(X[:, 0:1], requires_grad=True).float().to(device)
        self.t = torch.tensor(X[:, 1:2], requires_grad=True).float().to(device)
        self.u = torch.tensor(u).float().to(device)

        # unknown coefficients
        self.lambda_1 = torch.nn.Parameter(torch.tensor([0.0], device=device))
        self.lambda_2 = torch.nn.Parameter(torch.tensor([-4.0], device=device))

        self.dnn = DNN(layers).to(device)
        self.iter = 0

    def net_u(self, x, t):
        X = torch.cat([x, t], dim=1)
        X = 2.0 * (X - self.lb) / (self.ub - self.lb) - 1.0
        return self.dnn(X)

    def net_f(self, x, t):
        lambda_1 = self.lambda_1
        lambda_2 = torch.exp(self.lambda_2)
        u = self.net_u(x, t)
        u_t = torch.autograd.grad(u, t, grad_outputs=torch.ones_like(u),
                                  retain_graph=True, create_graph=True)[0]
        u_x = torch.autograd.grad(u, x, grad_outputs=torch.ones_like(u),
                                  retain_graph=True, create_graph=True)[0]
        u_xx = torch.autograd.grad(u_x, x, grad_outputs=torch.ones_like(u_x),
                                   retain_graph=True, create_graph=True)[0]
        return u_t + lambda_1 * u * u_x - lambda_2 * u_xx

    def fit(self, n_iter, lr, data_weight=5.0):
        optimizer = torch.optim.Adam(self.parameters(), lr=lr)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=25, gamma=0.5)
        self.train()
        for _ in range(n_iter):
            u_pred = self.net_u(self.x, self.t)
            f_pred = self.net_f(self.x, self.t)
            loss = data_weight * torch.mean((self.u - u_pred) ** 2) + torch.mean(f_pred ** 2)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            self.iter += 1
            if self.iter % 10 == 0:
                print('It: %d, Loss: %.3e, Lambda_1: %.3f, Lambda_2: %.5f' % (
                    self.iter, loss.item(), self.lambda_1.item(),
                    torch.exp(self.lambda_2.detach()).item()))

    def predict(self, X):
        self.eval()
        x = torch.tensor(X[:, 0:1]).float().to(device)
        t = torch.tensor(X[:, 1:2]).float().to(device)
        with torch.no_grad():
            u = self.net_u(x, t)
        return u.cpu().numpy()


def relative_l2(pred, true):
    return np.linalg.norm(true - pred, 2) / np.linalg.norm(true, 2)
