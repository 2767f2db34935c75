"""What calls itself in many ways costs a bounded number of steps, and the bound is counted."""

from __future__ import annotations

import ast

import pytest

from torchdevlint.infer import analysis, classes, guards
from torchdevlint.program import from_ast
from torchdevlint.source import deadline


def program(functions: int) -> str:
    names = [f"f{number}" for number in range(functions)]
    bodies = [
        f"def {name}(a, b, c):\n"
        + "".join(f"    a = {other}(b, {other}(a, c, b), a + c)\n" for other in names)
        + "    return a\n"
        for name in names
    ]
    return "import torch\n" + "\n".join(bodies) + "\nf0(torch.zeros(2), 1, 2)\n"


def test_mutual_recursion_is_cut_short_early_and_says_so() -> None:
    done = analysis.Analysis(from_ast.read(program(6))).run()
    assert done.bounds["depth of calls"] >= 1
    assert "work on one function or class" not in done.bounds


def test_a_bound_on_the_work_is_counted(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(analysis, "MOST_STEPS", 100)
    done = analysis.Analysis(from_ast.read(program(6))).run()
    assert done.bounds["work on one function or class"] >= 1


def test_a_long_chain_of_helpers_is_far_from_the_bound() -> None:
    helpers = "".join(f"def f{n}(a, b):\n    return f{n + 1}(a, b) + b\n" for n in range(60))
    text = f"import torch\n{helpers}def f60(a, b):\n    return a\nf0(torch.zeros(2), torch.zeros(2))\n"
    assert "work on one function or class" not in analysis.Analysis(from_ast.read(text)).run().bounds


def test_a_chain_of_many_classes_is_followed_for_some_of_them() -> None:
    """Each class asks all that it inherits from: what is not bounded takes 17 s for 200 of them."""
    chain = "".join(f"class C{number}(C{number - 1}):\n    pass\n\n" for number in range(1, 60))
    read = from_ast.read("from torch import nn\n\nclass C0(nn.Module):\n    pass\n\n" + chain)
    done = analysis.Analysis(read).run()
    lineage = classes.bases_of(done, read.classes[-1])
    assert [cls.name for cls in lineage] == [f"C{number}" for number in range(59, 59 - len(lineage), -1)]
    assert len(lineage) <= 30
    assert classes.is_module(done, read.classes[-1])


def events_of(text: str, name: str) -> int:
    """How much a function leaves to its callers."""
    done = analysis.Analysis(from_ast.read(text)).run()
    body = next(body for body in done.unit.program.bodies if body.name == name)
    summary = done.summary(body)
    assert summary is not None
    return len(summary.events)


def test_what_no_caller_decides_is_not_left_to_them() -> None:
    top = "import logging\nlog = logging.getLogger(__name__)\nNAME = 'weights'\n"
    assert events_of(top + "def f(x):\n    log.info('%s', x)\n    return x == NAME\n", "f") == 0
    assert events_of("def f(x, y):\n    return x.shape[0] * y.shape[1]\n", "f") == 0
    assert events_of("def f(k, d):\n    return d.get(k), d.items(), k.startswith('a')\n", "f") == 0
    assert events_of("def f(k, d):\n    d.update(k)\n    return k\n", "f") == 1


def test_a_function_that_calls_another_twice_does_not_double_what_it_changes() -> None:
    """What `x.cuda()` moves may be a module, and then what that gives, and so on."""
    chain = "".join(f"def f{n}(x):\n    return f{n - 1}(x) + f{n - 1}(x.cuda())\n" for n in range(1, 40))
    text = f"import torch\ndef f0(x):\n    return x + torch.zeros(3)\n{chain}f39(torch.ones(3).cuda())\n"
    done = analysis.Analysis(from_ast.read(text)).run()
    assert all(len(summary.effects) <= analysis.MOST_CHANGED for summary in done.kept.summaries.values() if summary)
    assert sum(summary.heard.steps for summary in done.kept.summaries.values() if summary) < 60_000


def test_inference_looks_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(deadline.VARIABLE, "0")
    read = from_ast.read("import torch\n" + "x = torch.zeros(3)\n" * 200)
    with deadline.limited(), pytest.raises(deadline.OutOfTime):
        analysis.Analysis(read).run()


@pytest.mark.parametrize("depth", range(8, 16))
def test_the_fields_of_what_nests_as_deep_as_a_term_may_are_unknown(depth: int) -> None:
    chain = "x" + "".join(f".a{number}" for number in range(depth))
    text = f"def f(x):\n    return [value for name, value in vars({chain}).items()]\n"
    assert not analysis.Analysis(from_ast.read(text)).run().faults


def test_items_that_nest_too_deep_are_read_before_a_call_that_removes_some() -> None:
    text = f"import torch\ndef f(a):\n    for b in a{'[0]' * 20}:\n        print(b)\n    a.clear()\n    return a\n"
    assert not analysis.analyse(from_ast.lower(ast.parse(text))).decided()


@pytest.mark.parametrize("collate", ["None", "lambda rows: rows[0]"])
def test_a_sample_that_holds_itself_is_collated(collate: str) -> None:
    text = f"""
import torch
from torch.utils.data import DataLoader

row = [torch.zeros(3)]
row.append(row)
for batch in DataLoader([row, (row, 1)], batch_size=2, collate_fn={collate}):
    print(batch)
"""
    assert analysis.Analysis(from_ast.read(text)).run() is not None


def test_what_settings_exclude_is_asked_of_each_two_tests_once() -> None:
    """A test of alternatives asks of each whether it fits the other tests, and not what these ask of one another."""
    ways = "".join(
        f"    name = args.n{n} or 'none'\n    if name == 'a':\n        x = x + torch.ones(2)\n" for n in range(40)
    )
    text = f"import argparse\nimport torch\nargs = argparse.ArgumentParser().parse_args()\ndef run(x):\n{ways}    return x\nrun(torch.zeros(2))\n"
    before = guards._may_come_out.cache_info().misses
    analysis.Analysis(from_ast.read(text)).run()
    assert guards._may_come_out.cache_info().misses - before < 20_000
