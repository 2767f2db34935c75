"""Tracebacks as people have them."""

from __future__ import annotations

import pytest

from torchdevlint.explain.log import Failure, Frame, read_log, users_frames

MESSAGE = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
PLAIN = f"""\
Traceback (most recent call last):
  File "/home/me/project/train.py", line 9, in <module>
    main()
  File "/home/me/project/model.py", line 5, in forward
    return x + self.table
           ~~^~~~~~~~~~~~
RuntimeError: {MESSAGE}
"""
FRAMES = (
    Frame("/home/me/project/train.py", 9, "<module>", "main()"),
    Frame("/home/me/project/model.py", 5, "forward", "return x + self.table"),
)


def only(text: str) -> Failure:
    (failure,) = read_log(text).failures
    return failure


def prefixed(prefix: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in PLAIN.splitlines())


def test_plain() -> None:
    assert only(PLAIN) == Failure("RuntimeError", MESSAGE, FRAMES)


@pytest.mark.parametrize(
    "prefix",
    [
        "2024-02-08 21:55:56,919 - ERROR - ",
        "[2024-02-08 21:55:56,919] ",
        "\x1b[31m",
        "\x1b[1;31m[ERROR] ",
        "> ",
        "stderr: ",
    ],
)
def test_prefixes(prefix: str) -> None:
    assert only(prefixed(prefix)) == Failure("RuntimeError", MESSAGE, FRAMES)


@pytest.mark.parametrize(
    ("prefix", "stream"),
    [
        ("[rank3]: ", "rank3"),
        ("[default1]:", "default1"),
        ("[1,0]<stderr>:", "1,0"),
        ("(TrainWorker pid=3288517, ip=192.168.128.39) ", "TrainWorker pid=3288517"),
        ("3: ", "3"),
        ("trainer-1  | ", "trainer-1"),
    ],
)
def test_prefixes_of_processes(prefix: str, stream: str) -> None:
    assert only(prefixed(prefix)) == Failure("RuntimeError", MESSAGE, FRAMES, stream)


def test_ranks_that_speak_at_once() -> None:
    lines = [
        f"[rank{rank}]: {line}"
        for pair in zip(PLAIN.splitlines(), PLAIN.splitlines(), strict=True)
        for rank, line in enumerate(pair)
    ]
    first, second = read_log("\n".join(lines)).failures
    assert first == Failure("RuntimeError", MESSAGE, FRAMES, "rank0")
    assert second == Failure("RuntimeError", MESSAGE, FRAMES, "rank1")


def test_a_progress_bar_in_front() -> None:
    text = "  0%|   | 0/28 [00:00<?, ?it/s]" + PLAIN
    assert only(text).frames == FRAMES
    assert only("  5%|#\r 10%|##\r" + PLAIN).frames == FRAMES


def test_windows_newlines() -> None:
    assert only(PLAIN.replace("\n", "\r\n")) == Failure("RuntimeError", MESSAGE, FRAMES)


def test_json_of_a_notebook() -> None:
    escaped = PLAIN.replace("\n", "\\n").replace('"', '\\"')
    assert only(f'{{"stack": "{escaped}"}}').frames == FRAMES


def test_a_chain() -> None:
    text = (
        PLAIN
        + "\nDuring handling of the above exception, another exception occurred:\n\n"
        + 'Traceback (most recent call last):\n  File "/home/me/project/train.py", line 20, in <module>\n    recover()\n'
        + "ValueError: no\n"
    )
    first, second = read_log(text).failures
    assert (first.message, first.frames) == (MESSAGE, FRAMES)
    assert (second.kind, second.frames[-1].row) == ("ValueError", 20)


def test_a_loader_worker() -> None:
    text = f"""\
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    for batch in loader:
  File "/opt/lib/python3.11/site-packages/torch/_utils.py", line 722, in reraise
    raise exception
RuntimeError: Caught RuntimeError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/opt/lib/python3.11/site-packages/torch/utils/data/_utils/worker.py", line 349, in _worker_loop
    data = fetcher.fetch(index)
  File "data.py", line 30, in __getitem__
    return self.x[i] + self.noise
RuntimeError: {MESSAGE}
"""
    outer, inner = read_log(text).failures
    assert outer.message == "Caught RuntimeError in DataLoader worker process 0."
    assert inner.message == MESSAGE
    assert [frame.path for frame in users_frames(inner)] == ["data.py"]


def test_exception_groups() -> None:
    text = f"""\
  + Exception Group Traceback (most recent call last):
  |   File "main.py", line 8, in <module>
  |     raise ExceptionGroup("both", errors)
  | ExceptionGroup: both (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "main.py", line 4, in one
    |     x + y
    | RuntimeError: {MESSAGE}
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File "main.py", line 5, in two
    |     1 / 0
    | ZeroDivisionError: division by zero
    +------------------------------------
"""
    group, one, two = read_log(text).failures
    assert group.kind == "ExceptionGroup"
    assert one == Failure("RuntimeError", MESSAGE, (Frame("main.py", 4, "one", "x + y"),))
    assert two.kind == "ZeroDivisionError"


def test_ipython() -> None:
    text = f"""\
---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[5], line 2
      1 x = torch.ones(3, device="cuda")
----> 2 run(x)

File ~/project/model.py:74, in Net.forward(self, x)
     72 def forward(self, x):
---> 74     return x + self.table
     75

RuntimeError: {MESSAGE}
"""
    failure = only(text)
    assert failure.message == MESSAGE
    assert failure.frames == (
        Frame("Cell In[5]", 2, "", "run(x)"),
        Frame("~/project/model.py", 74, "Net.forward", "return x + self.table"),
    )


def test_ipython_of_old() -> None:
    text = f"""\
RuntimeError                              Traceback (most recent call last)
<ipython-input-66-56e44b8b2212> in <module>()
      8
---> 10 train_loss = train(model)

~/project/model.py in forward(self, x)
     40     def forward(self, x):
---> 42         return x + self.table

RuntimeError: {MESSAGE}
"""
    assert only(text).frames == (
        Frame("<ipython-input-66-56e44b8b2212>", 10, "<module>", "train_loss = train(model)"),
        Frame("~/project/model.py", 42, "forward", "return x + self.table"),
    )


def test_rich() -> None:
    text = f"""\
\u256d\u2500\u2500\u2500\u2500\u2500 Traceback (most recent call last) \u2500\u2500\u2500\u2500\u2500\u256e
\u2502 /home/me/project/train.py:9 in <module>             \u2502
\u2502                                                  \u2502
\u2502    8 if __name__ == "__main__":                  \u2502
\u2502 \u2771  9 \u2502   main()                                   \u2502
\u2502                                                  \u2502
\u2502 /home/me/project/a/folder/with/a/long/name/model.py: \u2502
\u2502 5 in forward                                     \u2502
\u2502                                                  \u2502
\u2502 \u2771  5 \u2502   \u2502   return x + self.table                \u2502
\u2570\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u256f
RuntimeError: {MESSAGE.replace(", but ", ", but" + chr(10))}
"""
    failure = only(text)
    assert failure.message == MESSAGE
    assert failure.frames == (
        Frame("/home/me/project/train.py", 9, "<module>", "main()"),
        Frame("/home/me/project/a/folder/with/a/long/name/model.py", 5, "forward", "return x + self.table"),
    )


def test_rich_without_lines_to_draw() -> None:
    text = f"""\
+------------ Traceback (most recent call last) ------------+
| /home/me/project/model.py:5 in forward                       |
|                                                           |
| >  5         return x + self.table                        |
+-----------------------------------------------------------+
RuntimeError: {MESSAGE}
"""
    assert only(text) == Failure(
        "RuntimeError", MESSAGE, (Frame("/home/me/project/model.py", 5, "forward", "return x + self.table"),)
    )


def test_ipython_runs_a_file() -> None:
    text = f"""\
RuntimeError                              Traceback (most recent call last)
File /home/me/project/train.py:9
      7 def main(): ...
----> 9 main()

File /home/me/project/model.py:5, in Net.forward(self, x)
----> 5     return x + self.table

RuntimeError: {MESSAGE}
"""
    assert [(frame.path, frame.row, frame.text) for frame in only(text).frames] == [
        ("/home/me/project/train.py", 9, "main()"),
        ("/home/me/project/model.py", 5, "return x + self.table"),
    ]


def test_pytest() -> None:
    text = f"""\
_________________________________ test_forward _________________________________

    def test_forward():
>       Net()(torch.ones(3, device="cuda"))

test_model.py:9:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

self = Net(), x = tensor([1., 1., 1.], device='cuda:0')

    def forward(self, x):
>       return x + self.table
E       RuntimeError: {MESSAGE}

model.py:5: RuntimeError
=========================== short test summary info ============================
FAILED test_model.py::test_forward - RuntimeError: Expected all tensors to be...
"""
    assert read_log(text).failures[0] == Failure(
        "RuntimeError",
        MESSAGE,
        (
            Frame("test_model.py", 9, "", 'Net()(torch.ones(3, device="cuda"))'),
            Frame("model.py", 5, "", "return x + self.table"),
        ),
    )


def test_the_compilers_user_code() -> None:
    text = """\
Traceback (most recent call last):
  File "/opt/lib/python3.11/site-packages/torch/_dynamo/utils.py", line 3000, in run_node
    raise make_error_message(e)
torch._dynamo.exc.TorchRuntimeError: Dynamo failed to run FX node with fake tensors: call_function <built-in function add>

from user code:
   File "net.py", line 7, in forward
    return x + self.table

Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace
"""
    failure = only(text)
    assert failure.kind == "torch._dynamo.exc.TorchRuntimeError"
    assert failure.frames == (Frame("net.py", 7, "forward", "return x + self.table"),)


def test_frames_of_libraries_are_not_the_users() -> None:
    paths = [
        "/home/me/.venv/lib/python3.11/site-packages/accelerate/hooks.py",
        "/usr/lib/python3.8/threading.py",
        "C:\\Python310\\lib\\site-packages\\torch\\nn\\modules\\module.py",
        "/home/me/pytorch/torch/nn/modules/linear.py",
        "<frozen runpy>",
    ]
    frames = tuple(Frame(path, 1) for path in paths)
    mine = Frame("/home/me/python3/project/torch_models/net.py", 3)
    assert users_frames(Failure("E", "", (mine, *frames))) == (mine,)
    assert [frame.path for frame in users_frames(Failure("E", "", frames))][-1] == paths[0]


def test_long_and_strange_texts_cost_little() -> None:
    text = "x" * 200_000 + "\n" + '  File "' * 20_000 + "\n" + "[rank0]: " * 20_000
    assert read_log(text).failures == ()
