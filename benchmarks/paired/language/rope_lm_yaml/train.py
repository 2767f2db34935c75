import argparse

import torch

from lm.data import TokenStream
from lm.model import RopeLM
from lm.utils import cosine_with_warmup, load_config, param_groups, pick_device


def main(cfg):
    torch.manual_seed(cfg["seed"])
    device = pick_device(cfg["device"])
    stream = TokenStream(cfg["data"], cfg["model"]["vocab_size"], cfg["seed"])
    model = RopeLM(cfg["model"]).to(device)

    o = cfg["optim"]
    opt = torch.optim.AdamW(param_groups(model, o["weight_decay"]), lr=o["lr"], betas=tuple(o["betas"]))
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: cosine_with_warmup(s, o["warmup"], o["steps"]))

    for step in range(1, o["steps"] + 1):
        x, y = stream.next(device)
        loss = model(x, y)
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        if step % cfg["log_every"] == 0:
            print(f"{step:4d}  loss {loss.item():.4f}  ppl {loss.exp().item():.1f}  lr {sched.get_last_lr()[0]:.2e}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="configs/tiny.yaml")
    main(load_config(parser.parse_args().config))
