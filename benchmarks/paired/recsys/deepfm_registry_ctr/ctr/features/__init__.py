from .schema import DenseField, Schema, SparseField
from .synthetic import generate_impressions

__all__ = ["DenseField", "SparseField", "Schema", "generate_impressions"]
