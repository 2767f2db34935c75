import torch
import torch.nn.functional as F

from sagan_models import Discriminator, Generator
from utils import denorm, get_device


class Trainer(object):
    def __init__(self, data, config):
        self.data = data
        self.cfg = config
        self.device = get_device()
        self.build_model()
        self.fixed_z = torch.randn(4, config.z_dim, device=self.device)

    def build_model(self):
        c = self.cfg
        self.G = Generator(c.z_dim, c.conv_dim).to(self.device)
        self.D = Discriminator(c.conv_dim).to(self.device)
        self.g_optimizer = torch.optim.Adam(
            filter(lambda p: p.requires_grad, self.G.parameters()), c.g_lr, [c.beta1, c.beta2])
        self.d_optimizer = torch.optim.Adam(
            filter(lambda p: p.requires_grad, self.D.parameters()), c.d_lr, [c.beta1, c.beta2])

    def sample_z(self):
        return torch.randn(self.cfg.batch_size, self.cfg.z_dim, device=self.device)

    def train(self):
        for step in range(self.cfg.total_step):
            self.G.train()
            self.D.train()
            for _ in range(self.cfg.d_iters):
                real = next(self.data).to(self.device)
                d_out_real, _ = self.D(real)
                fake, _ = self.G(self.sample_z())
                d_out_fake, _ = self.D(fake.detach())
                d_loss = F.relu(1.0 - d_out_real).mean() + F.relu(1.0 + d_out_fake).mean()
                self.d_optimizer.zero_grad()
                d_loss.backward()
                self.d_optimizer.step()

            fake, _ = self.G(self.sample_z())
            g_loss = -self.D(fake)[0].mean()
            self.g_optimizer.zero_grad()
            g_loss.backward()
            self.g_optimizer.step()

            if (step + 1) % self.cfg.log_step == 0:
                print('step {}, d_loss {:.4f}, g_loss {:.4f}, G gamma {:.5f}, D gamma {:.5f}'.format(
                    step + 1, d_loss.item(), g_loss.item(),
                    self.G.attn.gamma.mean().item(), self.D.attn.gamma.mean().item()))
        return self.sample()

    @torch.no_grad()
    def sample(self):
        self.G.eval()
        images, attention = self.G(self.fixed_z)
        return denorm(images).cpu(), attention.cpu()
