"""What stands around an idiom: its four programs are made of these texts, here and for the cases of tests/infer/language.txt."""

from __future__ import annotations

IMPORTS = """\
import asyncio, collections, contextlib, contextvars, dataclasses, functools, heapq, importlib, io, itertools, operator, os, queue, tempfile, threading
from collections import ChainMap, UserDict, deque, namedtuple
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import Enum
from types import SimpleNamespace
from typing import NamedTuple, TypedDict

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, TensorDataset, default_collate
"""
IN_MAIN = """
def main(x):
    t = {made}
{lines}
    print(x + o)

main(torch.ones(4, 4, device="cuda"))
"""
IN_A_FUNCTION = """
def work_on(x, t):
{lines}
    return x + o

def main():
    print(work_on(torch.ones(4, 4, device="cuda"), {made}))

main()
"""
ON_THE_CPU, ON_THE_GPU = "torch.ones(4, 4)", 'torch.ones(4, 4, device="cuda")'
