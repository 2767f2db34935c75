import argparse
import os
import tempfile

import numpy as np
import torch

from core.datasets import SequenceDataset, fetch_dataloader
from core.raft import RAFT
from core.utils.utils import InputPadder, forward_interpolate

MAX_FLOW = 50


def sequence_loss(flow_preds, flow_gt, valid, gamma=0.8):
    n = len(flow_preds)
    mag = torch.sum(flow_gt ** 2, dim=1).sqrt()
    valid = (valid >= 0.5) & (mag < MAX_FLOW)
    loss = 0.0
    for i, pred in enumerate(flow_preds):
        loss = loss + gamma ** (n - i - 1) * (valid[:, None] * (pred - flow_gt).abs()).mean()
    epe = torch.sum((flow_preds[-1] - flow_gt) ** 2, dim=1).sqrt().view(-1)[valid.view(-1)]
    return loss, {"epe": epe.mean().item(), "3px": (epe < 3).float().mean().item()}


def train(model, args):
    loader = fetch_dataloader(args)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-5)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, args.lr, args.num_steps + 10, pct_start=0.05, anneal_strategy="linear")
    step = 0
    model.train()
    while step < args.num_steps:
        for blob in loader:
            image1, image2, flow, valid = [x.to(args.device) for x in blob]
            optimizer.zero_grad()
            preds = model(image1, image2, iters=args.iters)
            loss, metrics = sequence_loss(preds, flow, valid)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            step += 1
            print("[%4d] loss %.4f epe %.4f" % (step, loss.item(), metrics["epe"]))
            if step >= args.num_steps:
                break


@torch.no_grad()
def validate_sequence(model, args, warm_start=True):
    """Sintel-like evaluation, the last flow of a film initialises the next one."""
    model.eval()
    epes, saved = [], []
    for film in SequenceDataset(n=args.val_sequences, length=4, size=args.image_size, seed=77):
        flow_prev = None
        for image1, image2, flow_gt in film:
            image1, image2 = image1[None].to(args.device), image2[None].to(args.device)
            padder = InputPadder(image1.shape)
            image1, image2 = padder.pad(image1, image2)
            flow_low, flow_pr = model(image1, image2, iters=args.iters, flow_init=flow_prev, test_mode=True)
            flow = padder.unpad(flow_pr[0]).cpu()
            epes.append(torch.sum((flow - flow_gt) ** 2, dim=0).sqrt().view(-1).numpy())
            saved.append(flow.permute(1, 2, 0).numpy())
            if warm_start:
                flow_prev = forward_interpolate(flow_low[0])[None].to(args.device)
    return np.concatenate(epes), saved


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_steps", type=int, default=3)
    parser.add_argument("--batch_size", type=int, default=2)
    parser.add_argument("--image_size", type=int, nargs=2, default=[30, 44])
    parser.add_argument("--val_sequences", type=int, default=2)
    parser.add_argument("--iters", type=int, default=3)
    parser.add_argument("--lr", type=float, default=4e-4)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--submission", default=None)
    args = parser.parse_args()
    args.device = "cuda" if torch.cuda.is_available() else "cpu"

    torch.manual_seed(1234)
    np.random.seed(1234)

    model = RAFT(args).to(args.device)
    print("Parameter Count: %d" % sum(p.numel() for p in model.parameters() if p.requires_grad))
    train(model, args)

    cold, _ = validate_sequence(model, args, warm_start=False)
    warm, flows = validate_sequence(model, args)
    print("Validation EPE cold: %.3f warm: %.3f, 1px: %.3f" % (cold.mean(), warm.mean(), (warm < 1).mean()))

    out = args.submission or tempfile.mkdtemp()
    np.savez_compressed(os.path.join(out, "flows.npz"), *flows)
