import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import balanced_accuracy_score, classification_report
from torch.utils.data import DataLoader

import config
from data import class_weights, prepare
from model import TabularModel


def train_model(model, optim, criterion, dl):
    model.train()
    total, sum_loss = 0, 0
    for x_cat, x_cont, y in dl:
        x_cat, x_cont, y = x_cat.to(config.DEVICE), x_cont.to(config.DEVICE), y.to(config.DEVICE)
        output = model(x_cat, x_cont)
        loss = criterion(output, y)
        optim.zero_grad()
        loss.backward()
        optim.step()
        batch = y.shape[0]
        total += batch
        sum_loss += batch * loss.item()
    return sum_loss / total


def predict(model, dl):
    model.eval()
    preds, ys = [], []
    with torch.no_grad():
        for x_cat, x_cont, y in dl:
            out = model(x_cat.to(config.DEVICE), x_cont.to(config.DEVICE))
            preds.append(out.argmax(1).cpu().numpy())
            ys.append(y.numpy())
    return np.concatenate(preds), np.concatenate(ys)


def main():
    torch.manual_seed(config.SEED)
    train_ds, valid_ds, sizes = prepare()
    train_dl = DataLoader(train_ds, batch_size=config.BATCH_SIZE, shuffle=True, drop_last=True)
    valid_dl = DataLoader(valid_ds, batch_size=config.BATCH_SIZE)

    model = TabularModel(sizes, len(config.NUM_COLS), config.HIDDEN,
                         len(config.CLASS_NAMES), config.EMB_DROPOUT)
    model.to(config.DEVICE)
    weights = class_weights(train_ds.y)
    print("class weights", dict(zip(config.CLASS_NAMES, weights.numpy().round(2).tolist())))
    criterion = nn.CrossEntropyLoss(weight=weights.to(config.DEVICE))
    optim = torch.optim.Adam(model.parameters(), lr=config.LR)

    for i in range(config.EPOCHS):
        loss = train_model(model, optim, criterion, train_dl)
        p, y = predict(model, valid_dl)
        print("epoch %d  loss %.3f  balanced accuracy %.3f" % (i, loss, balanced_accuracy_score(y, p)))
    print(classification_report(y, p, target_names=config.CLASS_NAMES, zero_division=0))


if __name__ == "__main__":
    main()
