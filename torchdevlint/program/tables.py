"""Tables that several paths of a body have written to: what is not the same in them.

Where paths meet, nearly all of what is known is what was known where they parted. The tables are copies of one table, so its entries come
first in each of them and in one order: they are compared as sequences, without a lookup and without a step of the interpreter for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress, count, filterfalse, islice
from operator import is_not
from typing import TypeVar

_Key = TypeVar("_Key")


def unlike(tables: Sequence[Mapping[_Key, object]]) -> dict[_Key, None]:
    """The keys under which not all tables hold the same object."""
    first = tables[0]
    found: dict[_Key, None] = {}
    for other in tables[1:]:
        alike = next(compress(count(), map(is_not, first, other)), min(len(first), len(other)))
        found.update(dict.fromkeys(compress(islice(first, alike), map(is_not, first.values(), other.values()))))
        rest = [*islice(first, alike, None)]
        found.update(dict.fromkeys(compress(rest, map(is_not, map(first.get, rest), map(other.get, rest)))))
        found.update(dict.fromkeys(filterfalse(first.__contains__, islice(other, alike, None))))
    return found
