from dataclasses import dataclass, field
from typing import List


@dataclass(frozen=True)
class SparseField:
    name: str
    cardinality: int


@dataclass(frozen=True)
class DenseField:
    name: str


@dataclass
class Schema:
    sparse: List[SparseField] = field(default_factory=list)
    dense: List[DenseField] = field(default_factory=list)

    @classmethod
    def from_config(cls, cfg):
        return cls(
            sparse=[SparseField(n, int(c)) for n, c in cfg["sparse"].items()],
            dense=[DenseField(n) for n in cfg["dense"]],
        )
