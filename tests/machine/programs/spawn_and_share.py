"""torch.multiprocessing: a spawned child gets the machine, and tensors keep their device on the way."""

import torch
import torch.multiprocessing as mp


def child(rank: int, queue: object, shared: torch.Tensor, taken: object) -> None:
    queue.put((str(shared.device), shared.cpu().sum().item(), torch.cuda.device_count()))
    queue.put(torch.ones(2, device="cuda:1"))
    shared.add_(1)
    taken.wait(60)  # the owner of a shared tensor must live until it was taken over


if __name__ == "__main__":
    context = mp.get_context("spawn")
    queue, taken, done = context.Queue(), context.Event(), torch.ones(3, device="cuda:1")
    process = context.Process(target=child, args=(0, queue, done, taken))
    process.start()
    print(queue.get())
    print(queue.get().device)
    taken.set()
    process.join()
    print(done.cpu().tolist(), process.exitcode)
    model = torch.nn.Linear(2, 2)
    model.share_memory()
    print(model.weight.is_shared())
