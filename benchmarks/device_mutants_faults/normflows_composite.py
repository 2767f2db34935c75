import normflows
import torch

flow = normflows.flows.base.Composite([normflows.flows.Planar((2,)).cuda()])
flow(torch.randn(5, 2, device="cuda"))
