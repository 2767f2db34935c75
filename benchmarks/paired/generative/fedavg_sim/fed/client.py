import copy

import torch
import torch.nn.functional as F


class Client:
    def __init__(self, cid, loader, lr, local_epochs):
        self.cid = cid
        self.loader = loader
        self.lr = lr
        self.local_epochs = local_epochs

    @property
    def num_samples(self):
        return len(self.loader.dataset)

    def run(self, global_model, device):
        """Local SGD; hands back the change of every parameter, in host memory."""
        model = copy.deepcopy(global_model).to(device)
        opt = torch.optim.SGD(model.parameters(), lr=self.lr)
        for _ in range(self.local_epochs):
            for x, y in self.loader:
                loss = F.cross_entropy(model(x.to(device)), y.to(device))
                opt.zero_grad()
                loss.backward()
                opt.step()
        start = global_model.state_dict()
        return {k: (v - start[k].to(device)).cpu() for k, v in model.state_dict().items()}
