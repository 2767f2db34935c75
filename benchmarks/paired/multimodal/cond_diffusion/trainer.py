import torch
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, schedule, callbacks, lr=2e-3, device=None):
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.model = model
        self.schedule = schedule
        self.callbacks = callbacks
        self.lr = lr
        self.sampling_model = model

    def _call(self, hook, *args):
        for callback in self.callbacks:
            getattr(callback, hook)(self, *args)

    def loss(self, images, tokens):
        t = torch.randint(1, self.schedule.steps + 1, (len(images),), device=self.device)
        noise = torch.randn_like(images)
        noisy = self.schedule.add_noise(images, noise, t)
        tokens = self.model.drop_condition(tokens, 0.1)
        return F.mse_loss(self.model(noisy, t, tokens), noise)

    def fit(self, loader, epochs):
        self.model.to(self.device)
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.lr)
        self._call("on_fit_start")
        for epoch in range(epochs):
            for images, tokens in loader:
                loss = self.loss(images.to(self.device), tokens.to(self.device))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                self._call("on_step_end", loss)
            self._call("on_epoch_end", epoch)
        self._call("on_fit_end")

    @torch.no_grad()
    def sample(self, tokens, shape, stride=5, guidance=2.0):
        model = self.sampling_model
        tokens = tokens.to(self.device)
        null = torch.full_like(tokens, model.null_token)
        # start noise comes from the host generator so that pictures compare across machines
        x = torch.randn(len(tokens), *shape, generator=torch.Generator().manual_seed(4)).to(self.device)
        for step in range(self.schedule.steps, 0, -stride):
            t = torch.full((len(tokens),), step, device=self.device)
            free, cond = model(x, t, null), model(x, t, tokens)
            eps = free + guidance * (cond - free)
            x = self.schedule.ddim_step(x, eps, t, (t - stride).clamp_min(0))
        return x.cpu()
