import torch
import torch.nn as nn
import torch.nn.functional as F


def overlap_and_add(signal, frame_step):
    outer, (frames, frame_length) = signal.size()[:-2], signal.size()[-2:]
    out_len = frame_step * (frames - 1) + frame_length
    x = signal.reshape(-1, frames, frame_length).transpose(1, 2)
    y = F.fold(x, (1, out_len), kernel_size=(1, frame_length), stride=(1, frame_step))
    return y.view(*outer, out_len)


class ChannelwiseLayerNorm(nn.Module):
    def __init__(self, n):
        super(ChannelwiseLayerNorm, self).__init__()
        self.gamma = nn.Parameter(torch.ones(1, n, 1))
        self.beta = nn.Parameter(torch.zeros(1, n, 1))

    def forward(self, y):
        mean = y.mean(1, keepdim=True)
        var = y.var(1, keepdim=True, unbiased=False)
        return self.gamma * (y - mean) / torch.pow(var + 1e-8, 0.5) + self.beta


class TemporalBlock(nn.Module):
    def __init__(self, b, h, dilation):
        super(TemporalBlock, self).__init__()
        self.net = nn.Sequential(
            nn.Conv1d(b, h, 1, bias=False), nn.PReLU(), ChannelwiseLayerNorm(h),
            nn.Conv1d(h, h, 3, padding=dilation, dilation=dilation, groups=h, bias=False),
            nn.PReLU(), nn.Conv1d(h, b, 1, bias=False))

    def forward(self, x):
        return x + self.net(x)


class ConvTasNet(nn.Module):
    def __init__(self, N=16, L=16, B=12, H=16, X=2, R=1, C=2):
        super(ConvTasNet, self).__init__()
        self.N, self.L, self.B, self.H, self.X, self.R, self.C = N, L, B, H, X, R, C
        self.encoder = nn.Conv1d(1, N, kernel_size=L, stride=L // 2, bias=False)
        blocks = [TemporalBlock(B, H, 2 ** x) for _ in range(R) for x in range(X)]
        self.separator = nn.Sequential(ChannelwiseLayerNorm(N), nn.Conv1d(N, B, 1, bias=False), *blocks,
                                       nn.Conv1d(B, C * N, 1, bias=False))
        self.basis_signals = nn.Linear(N, L, bias=False)

    def forward(self, mixture):
        w = F.relu(self.encoder(mixture.unsqueeze(1)))
        m, n, k = w.size()
        mask = F.relu(self.separator(w).view(m, self.C, n, k))
        source_w = (w.unsqueeze(1) * mask).transpose(2, 3)
        est = overlap_and_add(self.basis_signals(source_w), self.L // 2)
        return F.pad(est, (0, mixture.size(-1) - est.size(-1)))

    @classmethod
    def load_model(cls, path):
        package = torch.load(path, map_location=lambda storage, loc: storage)
        return cls.load_model_from_package(package)

    @classmethod
    def load_model_from_package(cls, package):
        model = cls(package['N'], package['L'], package['B'], package['H'], package['X'], package['R'], package['C'])
        model.load_state_dict(package['state_dict'])
        return model

    @staticmethod
    def serialize(model, optimizer, epoch, tr_loss=None, cv_loss=None):
        package = {k: getattr(model, k) for k in 'NLBHXRC'}
        package.update(state_dict=model.state_dict(), optim_dict=optimizer.state_dict(), epoch=epoch)
        if tr_loss is not None:
            package['tr_loss'], package['cv_loss'] = tr_loss, cv_loss
        return package
