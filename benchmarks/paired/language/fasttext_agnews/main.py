import time

import torch

from loader import make_loader
from net import TextClassificationModel
from settings import BUCKETS, CLASSES, DEVICE, EMBED_DIM, EPOCHS, LR
from text import news, text_pipeline

torch.manual_seed(0)
train_dataloader = make_loader(news(200, 0), shuffle=True)
valid_dataloader = make_loader(news(40, 1), shuffle=False)

model = TextClassificationModel(BUCKETS, EMBED_DIM, len(CLASSES)).to(DEVICE)
criterion = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=LR)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)


def train(dataloader):
    model.train()
    total_acc, total_count = 0, 0
    for label, text, offsets in dataloader:
        optimizer.zero_grad()
        predicted_label = model(text, offsets)
        loss = criterion(predicted_label, label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.fc.parameters(), 0.1)
        optimizer.step()
        total_acc += (predicted_label.argmax(1) == label).sum().item()
        total_count += label.size(0)
    return total_acc / total_count


def evaluate(dataloader):
    model.eval()
    total_acc, total_count = 0, 0
    with torch.no_grad():
        for label, text, offsets in dataloader:
            predicted_label = model(text, offsets)
            total_acc += (predicted_label.argmax(1) == label).sum().item()
            total_count += label.size(0)
    return total_acc / total_count


def predict(text):
    with torch.no_grad():
        ids = torch.tensor(text_pipeline(text), device=DEVICE)
        output = model(ids, torch.tensor([0], device=DEVICE))
        return CLASSES[output.argmax(1).item()]


for epoch in range(1, EPOCHS + 1):
    epoch_start_time = time.time()
    accu_train = train(train_dataloader)
    accu_val = evaluate(valid_dataloader)
    scheduler.step()
    print("| end of epoch {:3d} | time: {:5.2f}s | train accuracy {:.3f} | valid accuracy {:.3f}".format(
        epoch, time.time() - epoch_start_time, accu_train, accu_val))

print("This is a %s news" % predict("The coach says the team will win the final of the league"))
