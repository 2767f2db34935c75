import argparse
import itertools
import logging
from collections import Counter

import torch
import torch.nn.functional as F

from catalog import Catalog, Visits
from index import ItemEncoder, VectorStore
from towers import ItemTower, UserTower

log = logging.getLogger("two_tower")


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--items", type=int, default=150)
    p.add_argument("--tags", type=int, default=10)
    p.add_argument("--countries", type=int, default=5)
    p.add_argument("--dim", type=int, default=16)
    p.add_argument("--batch-size", type=int, default=48)
    p.add_argument("--steps", type=int, default=300)
    p.add_argument("--temperature", type=float, default=0.1)
    p.add_argument("--device", default=None)
    return p.parse_args()


def train(user_tower, item_tower, catalog, visits, args, device):
    params = itertools.chain(user_tower.parameters(), item_tower.parameters())
    opt = torch.optim.Adam(params, lr=5e-3)
    counts = Counter()
    for step, (hist, offsets, country, clicked) in enumerate(itertools.islice(visits, args.steps)):
        counts.update(clicked.tolist())
        u = user_tower(hist.to(device), offsets.to(device), country.to(device))
        v = item_tower(clicked.to(device), catalog.tags[clicked].to(device))
        # logQ correction for in-batch negatives
        total = sum(counts.values())
        log_q = torch.tensor([counts[i] / total for i in clicked.tolist()], device=device).log()
        logits = u @ v.t() / args.temperature - log_q
        same = clicked[:, None] == clicked[None, :]
        same.fill_diagonal_(False)
        logits = logits.masked_fill(same.to(device), float("-inf"))
        loss = F.cross_entropy(logits, torch.arange(len(clicked), device=device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            log.info("step %d loss %.4f", step, loss.item())


@torch.no_grad()
def recall(user_tower, store, visits, device, k=10, batches=3):
    user_tower.eval()
    hits = total = 0
    for hist, offsets, country, clicked in itertools.islice(visits, batches):
        q = user_tower(hist.to(device), offsets.to(device), country.to(device))
        ids, _ = store.search(q, k)
        hits += (ids == clicked[:, None]).any(1).sum().item()
        total += len(clicked)
    return hits / total


def main():
    args = get_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    device = torch.device(args.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1)
    catalog = Catalog(args.items, args.tags, gen)
    visits = Visits(catalog, args.countries, args.batch_size, gen)
    user_tower = UserTower(args.items, args.countries, args.dim).to(device)
    item_tower = ItemTower(args.items, args.tags, args.dim).to(device)

    encoder = ItemEncoder(item_tower, catalog.tags)
    log.info("recall@10 untrained %.3f", recall(user_tower, VectorStore.build(encoder), visits, device))
    train(user_tower.train(), item_tower.train(), catalog, visits, args, device)
    store = VectorStore.build(encoder)
    log.info("recall@10 trained   %.3f", recall(user_tower, store, visits, device))

    edited = torch.randperm(args.items, generator=gen)[:20]
    catalog.tags[edited] *= 0.5
    store.invalidate(edited)
    n = store.refresh(encoder)
    log.info("re-encoded %d of %d items, recall@10 %.3f", n, len(store),
             recall(user_tower, store, visits, device))


if __name__ == "__main__":
    main()
