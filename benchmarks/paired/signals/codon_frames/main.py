import argparse

import torch
from torch.utils.data import DataLoader

from callbacks import BestWeights, ConfusionTable, LossAverage
from engine import Engine
from sequences import Reads
from tasks import FrameTask

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--reads", type=int, default=384)
    args = parser.parse_args()

    torch.manual_seed(0)
    task = FrameTask()
    if torch.cuda.is_available():
        task.cuda()
    best = BestWeights()
    engine = Engine(task, [LossAverage(), ConfusionTable(), best])
    train = DataLoader(Reads(args.reads, seed=1), batch_size=32, shuffle=True)
    test = DataLoader(Reads(args.reads // 4, seed=2), batch_size=48)
    engine.fit(train, test, args.epochs)
    best.restore(task)
    print(f"best accuracy {best.best:.3f} with weights on {task.device}")
