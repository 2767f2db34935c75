import numpy as np
import torch

import world


def BPR_train(dataset, model, opt):
    model.train()
    S = torch.from_numpy(dataset.uniform_sample()).long().to(world.device)
    S = S[torch.randperm(len(S), device=world.device)]
    aver_loss, batches = 0.0, S.split(world.config['bpr_batch_size'])
    for batch in batches:
        loss, reg = model.bpr_loss(batch[:, 0], batch[:, 1], batch[:, 2])
        loss = loss + world.config['decay'] * reg
        opt.zero_grad()
        loss.backward()
        opt.step()
        aver_loss += loss.item()
    return aver_loss / len(batches)


@torch.no_grad()
def Test(dataset, model):
    model.eval()
    k = world.config['topk']
    users = list(dataset.testDict)
    rating = model.getUsersRating(torch.tensor(users, device=world.device))
    for row, items in enumerate(dataset.getUserPosItems(users)):
        rating[row, items] = -(1 << 10)
    _, top = torch.topk(rating, k=k)
    top = top.cpu().numpy()
    recall = [len(set(t) & set(dataset.testDict[u])) / len(dataset.testDict[u]) for u, t in zip(users, top)]
    return np.mean(recall)
