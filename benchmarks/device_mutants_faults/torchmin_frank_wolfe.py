import torch
from torchmin import minimize_constr

start = torch.eye(5, device="cuda")
minimize_constr(lambda x: (x - start.flip(0)).pow(2).sum(), start, method="frank-wolfe", constr="birkhoff")
