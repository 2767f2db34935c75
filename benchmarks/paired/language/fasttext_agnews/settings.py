import torch

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
EPOCHS = 3
LR = 2.0
BATCH_SIZE = 16
EMBED_DIM = 24
NGRAMS = 2
BUCKETS = 500
CLASSES = ["World", "Sports", "Business", "Sci/Tec"]
