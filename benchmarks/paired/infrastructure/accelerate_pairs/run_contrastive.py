#!/usr/bin/env python
import argparse
import os
import tempfile

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from tqdm.auto import tqdm

from src.data import get_dataloaders
from src.evaluation import retrieval_metrics
from src.modeling import BiEncoder


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--train_pairs", type=int, default=192)
    parser.add_argument("--eval_pairs", type=int, default=64)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--num_train_epochs", type=int, default=3)
    parser.add_argument("--gradient_accumulation_steps", type=int, default=2)
    parser.add_argument("--learning_rate", type=float, default=1e-2)
    parser.add_argument("--max_grad_norm", type=float, default=1.0)
    parser.add_argument("--output_dir", type=str, default=None)
    parser.add_argument("--seed", type=int, default=42)
    return parser.parse_args()


def main():
    args = parse_args()
    accelerator = Accelerator(gradient_accumulation_steps=args.gradient_accumulation_steps)
    set_seed(args.seed)

    train_dataloader, eval_dataloader = get_dataloaders(args)
    model = BiEncoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    total = args.num_train_epochs * len(train_dataloader)
    lr_scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=total)

    model, optimizer, train_dataloader, eval_dataloader, lr_scheduler = accelerator.prepare(
        model, optimizer, train_dataloader, eval_dataloader, lr_scheduler
    )

    progress = tqdm(total=total, disable=True)
    for epoch in range(args.num_train_epochs):
        model.train()
        for batch in train_dataloader:
            with accelerator.accumulate(model):
                loss = model(**batch)["loss"]
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), args.max_grad_norm)
                optimizer.step()
                lr_scheduler.step()
                optimizer.zero_grad()
            progress.update(1)

        metrics = retrieval_metrics(accelerator, model, eval_dataloader)
        accelerator.print(f"epoch {epoch}: loss {loss.item():.4f} " +
                          " ".join(f"{k} {v:.3f}" for k, v in metrics.items()))

    with tempfile.TemporaryDirectory() as tmp:
        out = args.output_dir or tmp
        accelerator.wait_for_everyone()
        unwrapped = accelerator.unwrap_model(model)
        accelerator.save(unwrapped.state_dict(), os.path.join(out, "model.bin"))
    accelerator.end_training()


if __name__ == "__main__":
    main()
