import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader
from tqdm import tqdm

from src.dataset import ReviewDataset
from src.hierarchical_att_model import HierAttNet
from src.utils import accuracy, set_seed


def get_args():
    parser = argparse.ArgumentParser("Hierarchical Attention Networks for Document Classification")
    parser.add_argument("--batch_size", type=int, default=16)
    parser.add_argument("--num_epoches", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--gpu_id", type=int, default=0)
    parser.add_argument("--seed", type=int, default=123)
    return parser.parse_args()


def train(opt):
    set_seed(opt.seed)
    device = torch.device("cuda:%d" % opt.gpu_id if torch.cuda.is_available() else "cpu")
    training_generator = DataLoader(ReviewDataset(80), batch_size=opt.batch_size, shuffle=True, drop_last=True)
    test_generator = DataLoader(ReviewDataset(32, seed=1), batch_size=opt.batch_size)

    model = HierAttNet(120, 3).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=opt.lr, momentum=0.9)

    for epoch in range(opt.num_epoches):
        model.train()
        for batch in tqdm(training_generator, desc="epoch %d" % epoch, disable=None, leave=False):
            docs, sent_lengths, doc_lengths, labels = [x.to(device) for x in batch]
            optimizer.zero_grad()
            logits, _, _ = model(docs, sent_lengths, doc_lengths)
            loss = criterion(logits, labels)
            loss.backward()
            optimizer.step()

        model.eval()
        scores = []
        with torch.no_grad():
            for batch in test_generator:
                docs, sent_lengths, doc_lengths, labels = [x.to(device) for x in batch]
                logits, sent_alpha, _ = model(docs, sent_lengths, doc_lengths)
                scores.append(accuracy(logits, labels))
        print("Epoch: {}/{}, Loss: {:.4f}, Test accuracy: {:.3f}".format(
            epoch + 1, opt.num_epoches, loss.item(), sum(scores) / len(scores)))
    print("sentence attention of the last document:", [round(a, 3) for a in sent_alpha[-1].tolist()])


if __name__ == "__main__":
    train(get_args())
