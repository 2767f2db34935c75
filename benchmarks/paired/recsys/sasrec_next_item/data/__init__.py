from .interactions import synthesize_logs, leave_one_out
from .datasets import SequenceDataset, EvalDataset

__all__ = ["synthesize_logs", "leave_one_out", "SequenceDataset", "EvalDataset"]
