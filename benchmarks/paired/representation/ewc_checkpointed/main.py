import sys
import tempfile

import torch
import torch.nn.functional as F

from data import permuted_tasks
from ewc import EWC
from model import MLP

EPOCHS = 2
TASKS = 3
device = torch.device('cuda:0') if torch.cuda.is_available() else torch.device('cpu')


def train(model, ewc, loader, optimizer):
    model.train()
    epoch_loss = 0
    for input, target in loader:
        input, target = input.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(input), target) + ewc.penalty()
        epoch_loss += loss.item()
        loss.backward()
        optimizer.step()
    return epoch_loss / len(loader)


def test(model, loader):
    model.eval()
    correct = 0
    for input, target in loader:
        with torch.no_grad():
            pred = model(input.to(device)).argmax(1).cpu()
        correct += (pred == target).sum().item()
    return correct / len(loader.dataset)


def main(importance):
    torch.manual_seed(2)
    model = MLP().to(device)
    with tempfile.TemporaryDirectory() as workdir:
        ewc = EWC(model, workdir, importance, device)
        tests = []
        for task, (train_loader, test_loader) in enumerate(permuted_tasks(TASKS)):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
            for _ in range(EPOCHS):
                loss = train(model, ewc, train_loader, optimizer)
            tests.append(test_loader)
            ewc.end_task(task, train_loader)
            print('task', task, 'loss %.3f' % loss, 'acc', ['%.2f' % test(model, t) for t in tests])


if __name__ == '__main__':
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0)
