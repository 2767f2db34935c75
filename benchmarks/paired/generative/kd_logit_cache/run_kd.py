import argparse
import os
import tempfile

import torch
import yaml
from torch.utils.data import DataLoader

import kd
from kd.data import Stripes, WithTeacher
from kd.engine import accuracy, distill, dump_logits, fit_plain
from kd.registry import LOSSES, MODELS

DEFAULT = """
num_classes: 5
teacher: {type: convnet, width: 16, depth: 2}
student: {type: convnet, width: 4, depth: 2}
loss: {type: kd, T: 3.0, alpha: 0.6}
batch_size: 32
teacher_epochs: 2
lr: 0.05
min_conf: 0.25
"""


def main():
    parser = argparse.ArgumentParser("knowledge distillation with cached teacher outputs")
    parser.add_argument("--cfg", help="yaml file; built-in defaults otherwise")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--loss", choices=sorted(LOSSES))
    parser.add_argument("--gpu", type=int, default=0)
    args = parser.parse_args()
    cfg = yaml.safe_load(open(args.cfg) if args.cfg else DEFAULT)
    if args.loss:
        cfg["loss"] = {"type": args.loss}

    torch.manual_seed(0)
    device = torch.device(f"cuda:{args.gpu}" if torch.cuda.is_available() else "cpu")
    train, test = Stripes(128), Stripes(64, seed=1)
    test_loader = DataLoader(test, batch_size=64)

    teacher = MODELS.build({**cfg["teacher"], "num_classes": cfg["num_classes"]}).to(device)
    shuffled = DataLoader(train, batch_size=cfg["batch_size"], shuffle=True)
    fit_plain(teacher, shuffled, device, cfg["teacher_epochs"], cfg["lr"])
    logits = dump_logits(teacher, shuffled, device, cfg["num_classes"])

    # the teacher isn't needed on the device any more
    teacher.cpu()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    path = os.path.join(tempfile.mkdtemp(), "teacher_logits.pt")
    torch.save(logits, path)

    student = MODELS.build({**cfg["student"], "num_classes": cfg["num_classes"]}).to(device)
    criterion = LOSSES.build(cfg["loss"])
    loader = DataLoader(WithTeacher(train, torch.load(path)), batch_size=cfg["batch_size"], shuffle=True)
    for epoch, loss, kept in distill(student, loader, criterion, device, args.epochs, cfg["lr"], cfg["min_conf"]):
        print(f"epoch {epoch}: loss {loss:.4f} on {kept} items, student acc {accuracy(student, test_loader):.3f}")
    print(f"teacher acc {accuracy(teacher, test_loader):.3f}")


if __name__ == "__main__":
    main()
