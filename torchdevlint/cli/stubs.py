"""`torchdevlint stubs NAME`: what is known of a foreign function or class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """The parser of `torchdevlint stubs`."""
    from torchdevlint.cli import formatter

    parser: argparse.ArgumentParser = subparsers.add_parser(
        "stubs",
        help="print what is known of a name of torch or another library",
        description="Prints the device stub of a dotted name, such as torch.cat; a method of tensors is torch.Tensor.add_.",
        formatter_class=formatter(),
    )
    parser.add_argument("names", metavar="NAME", nargs="+")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Prints the entries; 2 where one of the names has none."""
    from torchdevlint.cli import fail
    from torchdevlint.stubs import loader

    for name in arguments.names:
        lines = loader.source(name)
        if not lines and name.startswith("torch.Tensor."):
            lines = loader.source("torch." + name.removeprefix("torch.Tensor."))
        if not lines:
            return fail(f"no stub tells of {name}")
        print(*lines, sep="\n")
    return 0
