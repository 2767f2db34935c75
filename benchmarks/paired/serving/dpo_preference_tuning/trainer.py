import os
from copy import deepcopy

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from data.preferences import collate_pairs
from utils.logprobs import ReferenceTable, sequence_logprob
from utils.misc import Mean, get_logger

logger = get_logger()


class DPOTrainer:
    def __init__(self, policy, dataset, args, device):
        self.args = args
        self.device = device
        self.policy = policy.to(device)
        self.dataset = dataset
        self.loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=True, collate_fn=collate_pairs)
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=args.lr)
        self.reference = ReferenceTable(len(dataset))

    def _to_device(self, batch):
        return {k: v if k == "index" else v.to(self.device, non_blocking=True) for k, v in batch.items()}

    def _logps(self, model, batch):
        out = []
        for side in ("chosen", "rejected"):
            ids, mask = batch[f"{side}_ids"], batch[f"{side}_mask"]
            out.append(sequence_logprob(model(ids), ids, mask))
        return out

    @torch.no_grad()
    def precompute_reference(self):
        frozen = deepcopy(self.policy).eval()
        loader = DataLoader(self.dataset, batch_size=2 * self.args.batch_size, collate_fn=collate_pairs)
        for batch in loader:
            index = batch["index"]
            chosen, rejected = self._logps(frozen, self._to_device(batch))
            self.reference.put(index, chosen, rejected)
        logger.info("reference log-probabilities for %d rows", int(self.reference.filled.sum()))
        del frozen

    def loss(self, batch):
        pi_w, pi_l = self._logps(self.policy, batch)
        ref_w, ref_l = self.reference.get(batch["index"], self.device)
        margin = self.args.beta * ((pi_w - ref_w) - (pi_l - ref_l))
        loss = -F.logsigmoid(margin) * (1 - self.args.label_smoothing) - F.logsigmoid(-margin) * self.args.label_smoothing
        return loss.mean(), margin.detach()

    def train(self):
        self.precompute_reference()
        for epoch in range(self.args.epochs):
            self.policy.train()
            loss_meter, acc_meter = Mean(), Mean()
            for batch in self.loader:
                batch = self._to_device(batch)
                loss, margin = self.loss(batch)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
                self.optimizer.step()
                loss_meter.update(loss.item(), margin.numel())
                acc_meter.update((margin > 0).float().mean(), margin.numel())
            logger.info("epoch %d loss %.4f reward-acc %.3f", epoch, loss_meter.value, acc_meter.value)

    def save(self, folder):
        path = os.path.join(folder, "policy.pt")
        state = {k: v.detach().cpu() for k, v in self.policy.state_dict().items()}
        torch.save({"model": state, "reference": vars(self.reference)}, path)
        return path
