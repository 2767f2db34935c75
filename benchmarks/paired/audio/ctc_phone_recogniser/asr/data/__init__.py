from .corpus import PhoneCorpus
from .collate import Batch, pad_collate, BucketSampler
