"""When CUDA_VISIBLE_DEVICES is read."""

import os
import sys

import torch

when = sys.argv[1]
if when == "after is_available":
    torch.cuda.is_available()
elif when == "after device_count":
    torch.cuda.device_count()
elif when == "after device":
    torch.device("cuda")
elif when == "after init":
    torch.zeros(1).cuda()
os.environ["CUDA_VISIBLE_DEVICES"] = sys.argv[2]
try:
    where = torch.zeros(
        1, device=f"cuda:{torch.cuda.device_count() - 1}" if torch.cuda.device_count() else "cuda"
    ).device
except RuntimeError as error:
    where = error
print(torch.cuda.is_available(), where)
