import argparse

import torch
from torch import nn, optim
from torch.utils.data import DataLoader

from net import KeywordNet
from tones import ToneWords

p = argparse.ArgumentParser()
p.add_argument("-b", "--batch_size", type=int, default=20)
p.add_argument("-e", "--epochs", type=int, default=3)
p.add_argument("--lr", type=float, default=5e-3)
p.add_argument("--smoothing", type=float, default=0.05)
p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
opt = p.parse_args()

torch.manual_seed(0)
train_set, test_set = ToneWords(80, seed=0), ToneWords(40, seed=1)
train_dl = DataLoader(train_set, opt.batch_size, shuffle=True)
test_dl = DataLoader(test_set, opt.batch_size)

net = KeywordNet(len(train_set.classes)).to(opt.device)
crit = nn.CrossEntropyLoss(label_smoothing=opt.smoothing)
optimizer = optim.AdamW(net.parameters(), lr=opt.lr)
sched = optim.lr_scheduler.OneCycleLR(optimizer, opt.lr, total_steps=opt.epochs * len(train_dl))

for epoch in range(opt.epochs):
    net.train()
    total = 0.0
    for wav, label in train_dl:
        wav, label = wav.to(opt.device), label.to(opt.device)
        loss = crit(net(wav), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sched.step()
        total += loss.item()
    net.eval()
    confusion = torch.zeros(len(train_set.classes), len(train_set.classes), dtype=torch.long)
    with torch.no_grad():
        for wav, label in test_dl:
            pred = net(wav.to(opt.device)).argmax(1).cpu()
            for t, q in zip(label, pred):
                confusion[t, q] += 1
    acc = confusion.diagonal().sum().item() / confusion.sum().item()
    print(f"epoch {epoch} loss {total / len(train_dl):.3f} acc {acc:.3f}")

for name, row in zip(train_set.classes, confusion.tolist()):
    print(f"{name:>5} {row}")
