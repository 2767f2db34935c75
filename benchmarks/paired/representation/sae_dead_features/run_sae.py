import torch

from config import SAEConfig
from lm import TinyLM
from sae import SparseAutoencoder
from store import ActivationStore
from trainer import SAETrainer

cfg = SAEConfig()
torch.manual_seed(cfg.seed)
lm = TinyLM(cfg.vocab, cfg.ctx, cfg.d_model).to(cfg.device).eval()
for p in lm.parameters():
    p.requires_grad_(False)

store = ActivationStore(lm, cfg)
sae = SparseAutoencoder(cfg.d_model, cfg.n_features)
SAETrainer(sae, store, cfg).train()

with torch.no_grad():
    tokens = torch.randint(cfg.vocab, (4, cfg.ctx), device=cfg.device)
    lm(tokens)
    acts = sae.encode(store._captured.flatten(0, 1))
    top = acts.max(0).values.topk(5)
print("most active features", top.indices.tolist(), [round(v, 2) for v in top.values.tolist()])
