import torch
from norse.torch.functional.encode import population_encode

population_encode(torch.rand(3, device="cuda"), 5)
