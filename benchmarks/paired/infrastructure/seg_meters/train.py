import argparse
import os
import tempfile

import torch
import torch.utils.data
from torch import nn

import utils
from model import TinyFCN
from shapes import IGNORE, ShapesSegmentation, collate_fn


def criterion(inputs, target):
    losses = {name: nn.functional.cross_entropy(x, target, ignore_index=IGNORE) for name, x in inputs.items()}
    if len(losses) == 1:
        return losses["out"]
    return losses["out"] + 0.5 * losses["aux"]


def evaluate(model, data_loader, device, num_classes):
    model.eval()
    confmat = utils.ConfusionMatrix(num_classes)
    with torch.inference_mode():
        for image, target in data_loader:
            image, target = image.to(device), target.to(device)
            output = model(image)["out"]
            confmat.update(target.flatten(), output.argmax(1).flatten())
    return confmat


def train_one_epoch(model, optimizer, data_loader, lr_scheduler, device, epoch, print_freq, scaler=None):
    model.train()
    metric_logger = utils.MetricLogger(delimiter="  ")
    for image, target in metric_logger.log_every(data_loader, print_freq, f"Epoch: [{epoch}]"):
        image, target = image.to(device), target.to(device)
        with torch.amp.autocast(device.type, dtype=torch.float16, enabled=scaler is not None):
            loss = criterion(model(image), target)

        optimizer.zero_grad()
        if scaler is not None:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            optimizer.step()
        lr_scheduler.step()
        metric_logger.update(loss=loss, lr=optimizer.param_groups[0]["lr"])


def get_args_parser():
    parser = argparse.ArgumentParser(description="Segmentation training", add_help=True)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", type=str)
    parser.add_argument("-b", "--batch-size", default=4, type=int)
    parser.add_argument("--epochs", default=2, type=int)
    parser.add_argument("--lr", default=0.1, type=float)
    parser.add_argument("--momentum", default=0.9, type=float)
    parser.add_argument("--wd", "--weight-decay", default=1e-4, type=float, dest="weight_decay")
    parser.add_argument("--print-freq", default=4, type=int)
    parser.add_argument("--output-dir", default=None, type=str)
    parser.add_argument("--amp", action="store_true", help="mixed precision (CUDA only)")
    return parser


def main(args):
    device = torch.device(args.device)
    torch.manual_seed(0)
    num_classes = 3
    data_loader = torch.utils.data.DataLoader(
        ShapesSegmentation(32, seed=1), batch_size=args.batch_size, shuffle=True, collate_fn=collate_fn)
    data_loader_test = torch.utils.data.DataLoader(
        ShapesSegmentation(8, seed=2), batch_size=4, collate_fn=collate_fn)

    model = TinyFCN(num_classes)
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=args.momentum,
                                weight_decay=args.weight_decay)
    iters = len(data_loader)
    lr_scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=iters * args.epochs, power=0.9)
    scaler = torch.amp.GradScaler("cuda") if args.amp and device.type == "cuda" else None

    for epoch in range(args.epochs):
        train_one_epoch(model, optimizer, data_loader, lr_scheduler, device, epoch, args.print_freq, scaler)
        confmat = evaluate(model, data_loader_test, device, num_classes)
        print(confmat)
        checkpoint = {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "lr_scheduler": lr_scheduler.state_dict(),
            "epoch": epoch,
            "args": vars(args),
        }
        if scaler is not None:
            checkpoint["scaler"] = scaler.state_dict()
        torch.save(checkpoint, os.path.join(args.output_dir, f"model_{epoch}.pth"))


if __name__ == "__main__":
    args = get_args_parser().parse_args()
    if args.output_dir is None:
        with tempfile.TemporaryDirectory() as args.output_dir:
            main(args)
    else:
        main(args)
