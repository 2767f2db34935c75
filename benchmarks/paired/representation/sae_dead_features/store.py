import torch


class ActivationStore:
    """Runs the LM on random text and keeps a shuffled buffer of residual stream activations in host memory."""

    def __init__(self, lm, cfg):
        self.lm, self.cfg = lm, cfg
        self._captured = None
        lm.blocks[cfg.layer].register_forward_hook(self._hook)
        self.buffer = torch.empty(0, cfg.d_model)

    def _hook(self, module, inputs, output):
        self._captured = output.detach()

    @torch.no_grad()
    def refill(self):
        chunks = []
        for _ in range(self.cfg.buffer_batches):
            tokens = torch.randint(self.cfg.vocab, (16, self.cfg.ctx), device=self.cfg.device)
            self.lm(tokens)
            chunks.append(self._captured.flatten(0, 1).cpu())
        fresh = torch.cat([self.buffer, *chunks])
        self.buffer = fresh[torch.randperm(len(fresh))]

    def next_batch(self):
        if len(self.buffer) < 2 * self.cfg.batch_size:
            self.refill()
        batch, self.buffer = self.buffer[: self.cfg.batch_size], self.buffer[self.cfg.batch_size :]
        return batch.to(self.cfg.device)
