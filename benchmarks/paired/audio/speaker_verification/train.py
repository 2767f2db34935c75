import argparse
import logging

import torch
from torch.utils.data import DataLoader

from corpus import SpeakerBalancedSampler, Voices, collate, make_trials
from heads import AAMSoftmax
from scoring import adaptive_snorm, equal_error_rate, extract_embeddings
from xvector import XVector

logger = logging.getLogger("spkver")


def get_args():
    p = argparse.ArgumentParser(description="x-vectors with an angular margin")
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batches", type=int, default=10)
    p.add_argument("--margin", type=float, default=0.2)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--gpu", type=int, default=0, help="-1 for the CPU")
    return p.parse_args()


def pick_device(gpu):
    if gpu >= 0 and torch.cuda.is_available():
        torch.cuda.set_device(gpu)
        return torch.device(f"cuda:{gpu}")
    return torch.device("cpu")


def main():
    args = get_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    torch.manual_seed(0)
    device = pick_device(args.gpu)

    train_set, test_set = Voices(10, 8, seed=1), Voices(6, 6, seed=2)
    sampler = SpeakerBalancedSampler(train_set.speakers, args.batches, per_batch=8, seed=3)
    loader = DataLoader(train_set, batch_sampler=sampler, collate_fn=collate)
    pairs, labels = make_trials(test_set.speakers, 200, seed=4)

    model = XVector(n_feats=12).to(device)
    head = AAMSoftmax(16, 10, margin=0.0, device=device)
    optimizer = torch.optim.Adam([{"params": model.parameters(), "weight_decay": 1e-4},
                                  {"params": head.parameters(), "weight_decay": 0.0}], lr=args.lr)

    for epoch in range(args.epochs):
        head.set_margin(args.margin * min(1.0, epoch / 2))
        for feats, lengths, speaker in loader:
            loss, acc = head(model(feats.to(device), lengths), speaker.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        emb = extract_embeddings(model, test_set, collate, device)
        cohort = extract_embeddings(model, train_set, collate, device)
        enroll, test = emb[pairs[:, 0]], emb[pairs[:, 1]]
        raw = (enroll * test).sum(1)
        normed = adaptive_snorm(raw, enroll, test, cohort)
        logger.info("epoch %d loss %.3f acc %.2f EER %.3f (s-norm %.3f)", epoch, loss.item(), acc.item(),
                    equal_error_rate(raw.numpy(), labels.numpy()),
                    equal_error_rate(normed.numpy(), labels.numpy()))


if __name__ == "__main__":
    main()
