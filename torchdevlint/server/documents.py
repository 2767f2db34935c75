"""What is open in the editor: scripts, and notebooks whose cells are one program."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from torchdevlint.server.texts import Change, Encoding, Text
from torchdevlint.server.work import Answer, Buffer

PYTHON = "python"
_NO_NAME = "untitled"


@dataclass(slots=True)
class Part:
    """A text of a document: the whole of a script, or a cell."""

    uri: str
    text: Text
    version: int | None
    is_python: bool = True


@dataclass(slots=True)
class Document:
    """A script, or a notebook. `revision` counts its changes; `answer` is what was last said of it, of revision `answered`."""

    uri: str
    path: str
    on_disk: bool
    parts: list[Part]
    is_notebook: bool = False
    revision: int = 0
    answer: Answer | None = None
    answered: int = -1
    task: asyncio.Task[None] | None = None
    seconds: float = 0.0  # that the last examination took
    told: set[str] = field(default_factory=set)  # the texts whose diagnostics the editor shows

    def buffer(self) -> Buffer:
        """What is examined."""
        if not self.is_notebook:
            return Buffer(self.path, self.parts[0].text.text, on_disk=self.on_disk)
        cells = tuple(part.text.text if part.is_python else None for part in self.parts)
        return Buffer(self.path, "", cells, self.on_disk)

    def part(self, cell: int | None) -> Part:
        """The text that a finding's place is in; cells count from 1."""
        return self.parts[(cell or 1) - 1]

    def cell(self, uri: str) -> int | None:
        """The number of the cell with this URI, None in a script."""
        if not self.is_notebook:
            return None
        return next(number for number, part in enumerate(self.parts, start=1) if part.uri == uri)

    def change(self, uri: str, version: int | None, changes: Iterable[Change], encoding: Encoding) -> None:
        """Takes over what the editor has changed in one of the texts."""
        for part in self.parts:
            if part.uri == uri:
                for change in changes:
                    part.text = part.text.changed(change, encoding)
                part.version = version
        self.revision += 1


class Documents:
    """All open documents; `of` finds that of a text, such as a cell."""

    def __init__(self) -> None:
        self._by_uri: dict[str, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._by_uri.values()))

    def open(self, document: Document) -> None:
        self._by_uri[document.uri] = document

    def close(self, uri: str) -> Document | None:
        return self._by_uri.pop(uri, None)

    def get(self, uri: str) -> Document | None:
        """The document with this URI."""
        return self._by_uri.get(uri)

    def of(self, uri: str) -> Document | None:
        """The document that has a text with this URI."""
        found = self._by_uri.get(uri)
        if found is not None and not found.is_notebook:
            return found
        return next((document for document in self for part in document.parts if part.uri == uri), None)


def path_of(uri: str, folders: Sequence[str], suffix: str) -> tuple[str, bool] | None:
    """The path that stands for a document, and whether it is a file's; None for what is no text of the user, such as a side of a diff.

    A buffer without a name is taken for one in the first folder of the workspace.
    """
    split = urlsplit(uri)
    if split.scheme == "file":
        path = url2pathname(unquote(f"//{split.netloc}{split.path}" if split.netloc else split.path))
        if os.path.basename(path):  # noqa: PTH119
            return os.path.normpath(path), True
    if split.scheme in ("untitled", "file"):
        folder = folders[0] if folders else os.getcwd()  # noqa: PTH109
        name = os.path.basename(unquote(split.path)) or _NO_NAME  # noqa: PTH119
        return os.path.join(folder, name if name.endswith(suffix) else name + suffix), False  # noqa: PTH118
    return None
