"""TDL705: CUDA does not survive a fork."""

import multiprocessing as mp

import torch

CODE = "TDL705"
SHAPES = ("1",)
EXPECT = r"Cannot re-initialize CUDA in forked subprocess"


def work(queue: mp.SimpleQueue) -> None:
    try:
        queue.put(f"worker on {torch.zeros(1, device='cuda').device}")
    except RuntimeError as error:
        queue.put(str(error))


def run(parent_uses_cuda: bool) -> str:
    if parent_uses_cuda:
        torch.zeros(1, device="cuda")
    context = mp.get_context("fork")
    queue = context.SimpleQueue()
    process = context.Process(target=work, args=(queue,))
    process.start()
    answer = queue.get()
    process.join()
    return answer


def fault() -> str:
    return run(parent_uses_cuda=True)


def repair() -> str:
    return run(parent_uses_cuda=False)
