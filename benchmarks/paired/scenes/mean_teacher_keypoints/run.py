import argparse
import os
import tempfile

import torch
from torch.utils.data import DataLoader

from pose.evaluate import evaluate
from pose.hands import StickHands
from pose.losses import flip_consistency, joints_mse, rampup
from pose.network import SimplePose
from pose.teacher import MeanTeacher


def build(args, device):
    train_set = StickHands(n=args.n, joints=args.joints)
    test_set = StickHands(n=12, joints=args.joints, labelled=1.0, seed=99)
    student = SimplePose(args.joints).to(device)
    teacher = MeanTeacher(student, args.ema)
    optimizer = torch.optim.Adam(student.parameters(), lr=args.lr)
    loaders = (
        DataLoader(train_set, batch_size=args.bs, shuffle=True, drop_last=True),
        DataLoader(test_set, batch_size=args.bs),
    )
    return student, teacher, optimizer, loaders, train_set.stride


def main(args):
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() and not args.cpu else "cpu")
    student, teacher, optimizer, (train_loader, test_loader), stride = build(args, device)
    ckpt_dir = tempfile.mkdtemp(prefix="pose_")
    step, warm = 0, len(train_loader)

    for epoch in range(args.epochs):
        student.train()
        sup_sum = con_sum = 0.0
        for img, target, weight, _ in train_loader:
            img, target, weight = img.to(device), target.to(device), weight.to(device)
            out = student(img)
            loss = sup = joints_mse(out, target, weight)
            if step >= warm:
                guide = teacher(torch.flip(img, dims=[3]))
                con = flip_consistency(out, guide)
                loss = loss + args.lam * rampup(step - warm, 20) * con
                con_sum += con.item()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            teacher.update(student)
            sup_sum += sup.item()
            step += 1
        acc_s = evaluate(student, test_loader, stride)
        acc_t = evaluate(teacher.module, test_loader, stride)
        print(f"[{epoch}] sup {sup_sum:.4f} con {con_sum:.4f} PCK student {acc_s:.3f} teacher {acc_t:.3f}")
        state = {k: v.cpu() for k, v in teacher.module.state_dict().items()}
        path = os.path.join(ckpt_dir, "teacher.pt")
        torch.save(state, path)
        os.remove(path)
    os.rmdir(ckpt_dir)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--bs", type=int, default=8)
    ap.add_argument("--n", type=int, default=32)
    ap.add_argument("--joints", type=int, default=4)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--ema", type=float, default=0.95)
    ap.add_argument("--lam", type=float, default=0.5)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--cpu", action="store_true")
    main(ap.parse_args())
