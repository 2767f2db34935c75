import torch

SEED = 2021
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

N_ROWS = 400
CAT_COLS = ["contract", "payment", "internet"]
NUM_COLS = ["tenure", "monthly", "tickets"]
TARGET = "segment"

BATCH_SIZE = 64
EPOCHS = 3
LR = 1e-2
HIDDEN = [32, 16]
EMB_DROPOUT = 0.05
CLASS_NAMES = ["stay", "downgrade", "leave"]
