"""What is in a checkpoint (`.pt`, `.pth`, `.bin`, `.ckpt`, `.safetensors`), without torch and without running its pickle.

`read` gives the storages of a file with their devices; `retagged` writes a copy whose storages carry another device. Both
raise `CheckpointError`, whose text is a sentence for the user. Formats: `torch/serialization.py` of PyTorch 2.13,
`caffe2/serialize/inline_container.cc` (records and their padding), the safetensors README.
"""

from __future__ import annotations

from torchdevlint.checkpoints.contents import Checkpoint, CheckpointError, Storage
from torchdevlint.checkpoints.copying import retagged
from torchdevlint.checkpoints.reading import read

__all__ = ["Checkpoint", "CheckpointError", "Storage", "read", "retagged"]
