import torch


class GainTable:
    """One complex gain per antenna, as log amplitude and phase."""

    names = ("log_amp", "phase")

    def __init__(self, n_ant):
        self.log_amp = torch.zeros(n_ant)
        self.phase = torch.zeros(n_ant)

    def to(self, device):
        for name in self.names:
            setattr(self, name, getattr(self, name).to(device))
        return self

    def free(self):
        """Make the table solvable and return the unknowns."""
        return [getattr(self, name).requires_grad_() for name in self.names]

    def complex(self):
        return torch.polar(self.log_amp.exp(), self.phase)

    @torch.no_grad()
    def referenced(self, antenna=0):
        """Host copy with the phase of one antenna set to zero."""
        g = self.complex().cpu()
        return g * (g[antenna].conj() / g[antenna].abs())
