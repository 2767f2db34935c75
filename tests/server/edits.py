"""Random edits of a text, as somebody makes them who types: in functions more often than anywhere else."""

from __future__ import annotations

import ast
import random
import re

_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_ADDED = (
    "{a} = {b}.to('cuda')",
    "{a} = {b}.cpu()",
    "{a} = {b} + torch.zeros(3)",
    "{a} = torch.randn(3, device={b}.device)",
    "self.{a} = {b}",
    "self.{a} = torch.ones(2)",
    "{a}({b})",
    "{a} = self.{b}({c})",
    "self.register_buffer('{a}', {b})",
    "return {b}",
    "yield {b}",
    "global {a}",
    "if {a}.is_cuda: {b} = {c}",
    "for {a} in {b}: {c} = {a}.cuda()",
    "{a} = lambda {b}: {b} + {c}",
    "def {a}({b}): return {c} + {b}",
    "from {a} import {b}",
    "torch.set_default_device('cuda')",
    "torch.cuda.set_device(1)",
    "with torch.cuda.device(1): {a} = {b}",
    "print({a})  # {b}",
)


def edited(text: str, choice: random.Random) -> str:
    """The text with one line changed, added or taken away."""
    lines = text.split("\n")
    at = choice.randrange(len(lines))
    names = _NAME.findall(text) or ["x"]
    inside = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    kind = choice.randrange(8)
    if kind == 0:
        lines.insert(at, inside + choice.choice(lines).strip())
    elif kind == 1:
        del lines[at]
    elif kind == 2:
        lines[at] += f"  # {choice.choice(names)}"
    elif kind == 3:
        lines[at] = re.sub(r"\d+", str(choice.randrange(9)), lines[at])
    elif kind == 4:
        added = choice.choice(_ADDED).format(a=choice.choice(names), b=choice.choice(names), c=choice.choice(names))
        lines.insert(at, inside + added)
    else:
        found = list(_NAME.finditer(lines[at]))
        if found:
            one = choice.choice(found)
            lines[at] = lines[at][: one.start()] + choice.choice(names) + lines[at][one.end() :]
    return "\n".join(lines)


def versions(text: str, seed: int, count: int) -> list[str]:
    """The texts that somebody types, one after the other; one in ten does not parse."""
    choice = random.Random(seed)
    found = [text]
    for _ in range(50 * count):
        new = edited(text, choice)
        if new == text:
            continue
        try:
            ast.parse(new)
            text = new
        except (SyntaxError, ValueError):
            if choice.random() > 0.05:
                continue
        found.append(new)
        if len(found) > count:
            break
    return found
