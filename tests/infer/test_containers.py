"""What a program does with containers that is no use of them, and is read all the same."""

from __future__ import annotations

from torchdevlint import check_source


def test_a_name_as_the_key_of_a_list_is_read() -> None:
    text = """
import torch

def build(flag, key):
    state = {}
    state[key] = [torch.zeros(3), torch.zeros(3)]
    if flag:
        state[key]["fragments"] = torch.ones(3)
    for one in state[key]:
        print(one.numpy())

build(len("a") > 3, 4)
"""
    assert check_source(text) == ()
