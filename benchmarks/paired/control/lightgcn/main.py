import numpy as np
import torch

import world
from dataloader import BlockDataset
from model import LightGCN
from procedure import BPR_train, Test

np.random.seed(world.config['seed'])
torch.manual_seed(world.config['seed'])

dataset = BlockDataset()
Recmodel = LightGCN(world.config, dataset)
Recmodel = Recmodel.to(world.device)
opt = torch.optim.Adam(Recmodel.parameters(), lr=world.config['lr'])

for epoch in range(world.config['epochs']):
    loss = BPR_train(dataset, Recmodel, opt)
    print(f"EPOCH[{epoch + 1}/{world.config['epochs']}] loss {loss:.3f} recall@{world.config['topk']} "
          f"{Test(dataset, Recmodel):.3f}")
