"""A pickle with other location tags: the same instructions, but for the strings that are tags.

A pickler writes equal strings once and fetches them from its memo afterwards, so a tag may be the same object as a string of
the user's. Each push is therefore judged by its use: a literal that is a tag becomes the new tag, fetches of it that are none become
the old literal; a literal that is no tag stays, and fetches of it that are tags become the new literal. No instruction is
used that `weights_only` does not know, unless the old pickle uses it.
"""

from __future__ import annotations

from torchdevlint.checkpoints.contents import CheckpointError
from torchdevlint.checkpoints.opcodes import operations
from torchdevlint.checkpoints.symbolic import Pickled

_FRAME_HEADER = 9


def rewritten(data: bytes, start: int, pickled: Pickled, tag: str) -> bytes:
    """The bytes of the pickle at `start` with every tag but `meta` replaced. `pickled` is what `interpret` said of it. Raises `CheckpointError`."""
    if pickled.shared_ids:
        raise CheckpointError("uses a storage's description twice, which no pickler of torch does; it is not rewritten")
    if pickled.wrappers:
        raise CheckpointError(
            "holds tensor subclasses that carry a device of their own; load it with map_location instead"
        )
    changes = _changes(data, start, pickled, tag)
    pieces: list[bytes] = []
    frames: list[tuple[int, int]] = []  # piece that holds the header, position of the old frame's end
    sizes: dict[int, int] = {}
    for name, position, begin, end in operations(data, start):
        while frames and position >= frames[-1][1]:
            frames.pop()
        piece = changes.get(position, data[position:end])
        if name == "FRAME":
            if frames:
                raise CheckpointError("is damaged: its pickle has a frame inside of a frame")
            frames.append((len(pieces), end + int.from_bytes(data[begin:end], "little")))
            sizes[len(pieces)] = 0
        elif frames:
            sizes[frames[-1][0]] += len(piece)
        pieces.append(piece)
    for index, size in sizes.items():
        pieces[index] = pieces[index][: _FRAME_HEADER - 8] + size.to_bytes(8, "little")
    return b"".join(pieces)


def _changes(data: bytes, start: int, pickled: Pickled, tag: str) -> dict[int, bytes]:
    tags = {site: literal for site, (literal, value) in pickled.location_sites.items() if value not in (tag, "meta")}
    if not tags:
        return {}
    literals = _literals(data, start, set(tags.values()))
    changes: dict[int, bytes] = {}
    for literal in set(tags.values()):
        name, old = literals[literal]
        new = _literal(name, tag)
        if literal in tags:
            changes[literal] = new
            changes.update((site, old) for site in pickled.copies.get(literal, ()) if site not in tags)
        else:
            changes.update((site, new) for site in pickled.copies.get(literal, ()) if site in tags)
    return changes


def _literals(data: bytes, start: int, wanted: set[int]) -> dict[int, tuple[str, bytes]]:
    return {
        position: (name, data[position:end]) for name, position, _, end in operations(data, start) if position in wanted
    }


def _literal(name: str, text: str) -> bytes:
    raw = text.encode("ascii")
    if name == "SHORT_BINUNICODE":
        return b"\x8c" + bytes([len(raw)]) + raw
    if name == "SHORT_BINSTRING":  # a string of Python 2: what it is read as is the reader's choice, as it was
        return b"U" + bytes([len(raw)]) + raw
    if name == "UNICODE":
        return b"V" + raw + b"\n"
    return b"X" + len(raw).to_bytes(4, "little") + raw
