import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from torch.utils.data import DataLoader

from dec.cluster import target_distribution


def cluster_accuracy(y_true, y_pred):
    k = max(y_pred.max(), y_true.max()) + 1
    w = np.zeros((k, k), dtype=np.int64)
    for p, t in zip(y_pred, y_true):
        w[p, t] += 1
    rows, cols = linear_sum_assignment(w.max() - w)
    return w[rows, cols].sum() / len(y_pred)


def pretrain(ae, dataset, epochs, batch_size, cuda):
    optimizer = torch.optim.Adam(ae.parameters(), lr=1e-2)
    for epoch in range(epochs):
        total = 0.
        for x, _ in DataLoader(dataset, batch_size=batch_size, shuffle=True):
            if cuda:
                x = x.cuda(non_blocking=True)
            loss = F.mse_loss(ae(x + 0.1 * torch.randn_like(x)), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        print('pretrain %d: mse %.4f' % (epoch, total / len(dataset)))


def _encode_all(dataset, encoder, batch_size, cuda):
    features, actual = [], []
    with torch.no_grad():
        for x, y in DataLoader(dataset, batch_size=batch_size):
            if cuda:
                x = x.cuda(non_blocking=True)
            features.append(encoder(x).detach().cpu())
            actual.append(y)
    return torch.cat(features), torch.cat(actual).numpy()


def train(dataset, model, epochs, batch_size, cuda, seed=0):
    kmeans = KMeans(n_clusters=model.assignment.cluster_centers.size(0), n_init=5, random_state=seed)
    features, actual = _encode_all(dataset, model.encoder, batch_size, cuda)
    predicted = kmeans.fit_predict(features.numpy())
    print('k-means accuracy %.3f' % cluster_accuracy(actual, predicted))

    cluster_centers = torch.tensor(kmeans.cluster_centers_, dtype=torch.float)
    if cuda:
        cluster_centers = cluster_centers.cuda(non_blocking=True)
    model.assignment.cluster_centers.data = cluster_centers

    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    criterion = nn.KLDivLoss(reduction='sum')
    for epoch in range(epochs):
        model.train()
        running = 0.
        for x, _ in DataLoader(dataset, batch_size=batch_size, shuffle=True):
            if cuda:
                x = x.cuda(non_blocking=True)
            output = model(x)
            target = target_distribution(output).detach()
            loss = criterion(output.log(), target) / output.shape[0]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        predicted, actual = predict(dataset, model, batch_size, cuda)
        print('dec %d: kl %.4f accuracy %.3f' % (epoch, running, cluster_accuracy(actual, predicted)))


def predict(dataset, model, batch_size, cuda):
    q, actual = _encode_all(dataset, model, batch_size, cuda)
    return q.argmax(1).numpy(), actual
