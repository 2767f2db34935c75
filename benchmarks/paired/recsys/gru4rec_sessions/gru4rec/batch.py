from dataclasses import dataclass

import torch
from torch.nn.utils.rnn import pad_sequence


@dataclass
class SessionBatch:
    inputs: torch.Tensor    # (B, T) item ids, 0 is padding
    targets: torch.Tensor   # (B, T)
    lengths: torch.Tensor   # (B,)
    session_ids: list

    def pin_memory(self):
        self.inputs = self.inputs.pin_memory()
        self.targets = self.targets.pin_memory()
        return self

    def to(self, device):
        return SessionBatch(
            inputs=self.inputs.to(device, non_blocking=True),
            targets=self.targets.to(device, non_blocking=True),
            lengths=self.lengths,
            session_ids=self.session_ids,
        )

    def __len__(self):
        return len(self.session_ids)


def collate_sessions(samples):
    ids = [sid for sid, _ in samples]
    seqs = [torch.tensor(s) for _, s in samples]
    return SessionBatch(
        inputs=pad_sequence([s[:-1] for s in seqs], batch_first=True),
        targets=pad_sequence([s[1:] for s in seqs], batch_first=True),
        lengths=torch.tensor([len(s) - 1 for s in seqs]),
        session_ids=ids,
    )
