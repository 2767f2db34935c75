import argparse

import torch
import torch.nn.functional as F

from evaluate import mean_reciprocal_rank, preserve_memory
from tgn import TGN, synthetic_interactions


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=40)
    parser.add_argument("--dim", type=int, default=16)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--eval-every", type=int, default=2, help="batches between peeks at the validation log")
    parser.add_argument("--no-cuda", action="store_true")
    return parser.parse_args()


def train_epoch(model, log, val_log, items, optimizer, args, device):
    model.memory.reset()
    losses = []
    for step, batch in enumerate(log.batches(args.batch_size), start=1):
        batch = batch.to(device)
        fake = items[torch.randint(len(items), (batch.src.numel(),))].to(device)
        pos = model(batch.src, batch.dst, batch.t)
        neg = model(batch.src, fake, batch.t)
        loss = F.softplus(-pos).mean() + F.softplus(neg).mean()

        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())

        model.memory.detach()
        model.memory.update(*batch)

        if step % args.eval_every == 0:
            with preserve_memory(model):
                mrr = mean_reciprocal_rank(model, val_log, items, args.batch_size, device)
            print(f"  step {step:3d}  peek mrr {mrr:.3f}")
    return torch.stack(losses).mean().item()


def main():
    args = get_args()
    torch.manual_seed(0)
    use_cuda = not args.no_cuda and torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")

    log, num_users, num_items = synthetic_interactions()
    train_log, val_log, test_log = log.chronological_split()
    items = torch.arange(num_users, num_users + num_items)

    model = TGN(num_users + num_items, dim=args.dim).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        loss = train_epoch(model, train_log, val_log, items, optimizer, args, device)
        print(f"epoch {epoch}: loss {loss:.4f}")

    val = mean_reciprocal_rank(model, val_log, items, args.batch_size, device)
    test = mean_reciprocal_rank(model, test_log, items, args.batch_size, device)
    print(f"final mrr: val {val:.3f} test {test:.3f}")


if __name__ == "__main__":
    main()
