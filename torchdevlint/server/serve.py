"""The server: what an editor says, and what it is told."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import re
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.io_ import StdinAsyncReader, StdoutWriter, run_async
from pygls.lsp.server import LanguageServer

from torchdevlint import __version__
from torchdevlint.findings import Applicability, Finding
from torchdevlint.program.project import member
from torchdevlint.server import translate
from torchdevlint.server.documents import PYTHON, Document, Documents, Part, path_of
from torchdevlint.server.examiner import Examiner
from torchdevlint.server.texts import Change, Encoding, Point, Range, Text
from torchdevlint.server.work import Answer, Buffer, Job

SECTION = "torchdevlint"
_SUFFIX, _NOTEBOOK = ".py", ".ipynb"
# Seconds without a key before an examination begins: a share of what the last one took, so that typing does not keep a processor busy.
_SHORTEST_PAUSE, _LONGEST_PAUSE, _SHARE = 0.01, 0.2, 0.1
_BEHIND_SAVES = 0.5  # seconds: several files are saved at once
_WATCHED = ("**/*.py", "**/*.ipynb", "**/*.toml", "**/*.stub", "**/*.cfg", "**/requirements*.txt")
_CODE = re.compile(r"\bTDL\d{3}\b")
_UNKNOWN = frozenset((None, ""))  # language identifiers of editors that give none

TextItem = types.TextDocumentItem
Edits = Iterable[tuple[Part, types.TextEdit]]


class Server:
    """One editor's server."""

    def __init__(self) -> None:
        notebooks = types.NotebookDocumentFilterNotebookType(notebook_type="jupyter-notebook")
        self.lsp = LanguageServer(
            "torchdevlint",
            __version__,
            types.TextDocumentSyncKind.Incremental,
            types.NotebookDocumentSyncOptions([types.NotebookDocumentFilterWithNotebook(notebooks)], save=True),
        )
        self.documents = Documents()
        self.examiner = Examiner()
        self._options: dict[str, Mapping[str, Any]] = {}  # by folder, "" for all others
        self._told: set[str] = set()
        self._refreshing: asyncio.Task[None] | None = None
        self._register()

    # ------------------------------------------------------------------------------------------------ the editor

    def _register(self) -> None:
        actions = types.CodeActionOptions([types.CodeActionKind.QuickFix, translate.FIX_ALL], resolve_provider=True)
        handlers: dict[str, tuple[Any, Any]] = {
            types.INITIALIZE: (self._initialize, None),
            types.INITIALIZED: (self._initialized, None),
            types.SHUTDOWN: (self._shut_down, None),
            types.TEXT_DOCUMENT_DID_OPEN: (self._opened, None),
            types.TEXT_DOCUMENT_DID_CHANGE: (self._changed, None),
            types.TEXT_DOCUMENT_DID_SAVE: (self._saved, None),
            types.TEXT_DOCUMENT_DID_CLOSE: (self._closed, None),
            types.NOTEBOOK_DOCUMENT_DID_OPEN: (self._notebook_opened, None),
            types.NOTEBOOK_DOCUMENT_DID_CHANGE: (self._notebook_changed, None),
            types.NOTEBOOK_DOCUMENT_DID_SAVE: (self._notebook_saved, None),
            types.NOTEBOOK_DOCUMENT_DID_CLOSE: (self._notebook_closed, None),
            types.TEXT_DOCUMENT_HOVER: (self._hover, None),
            types.TEXT_DOCUMENT_CODE_ACTION: (self._actions, actions),
            types.CODE_ACTION_RESOLVE: (self._resolve, None),
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: (self._configured, None),
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (self._files_changed, None),
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: (self._folders_changed, None),
        }
        for name, (handler, options) in handlers.items():
            self.lsp.feature(name, options)(_function(handler))

    @property
    def _encoding(self) -> Encoding:
        """The unit of columns that the editor and this server agreed on."""
        chosen: Any = self.lsp.server_capabilities.position_encoding or types.PositionEncodingKind.Utf16
        encoding: Encoding = getattr(chosen, "value", chosen)
        return encoding

    def _can(self, *names: str) -> bool:
        """A capability of the editor, by its path."""
        at: Any = self.lsp.client_capabilities
        for name in names:
            at = getattr(at, name, None)
        return bool(at)

    def _initialize(self, params: types.InitializeParams) -> None:
        self._set_options("", params.initialization_options)
        self.examiner.start()

    async def _initialized(self, _: types.InitializedParams) -> None:
        wanted = []
        if self._can("workspace", "did_change_watched_files", "dynamic_registration"):
            watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            wanted.append(types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
        if self._can("workspace", "did_change_configuration", "dynamic_registration"):
            section = {"section": SECTION}
            wanted.append(types.Registration("settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, section))
        if wanted:
            await self.lsp.client_register_capability_async(types.RegistrationParams(wanted))
        await self._pull_options()

    def _shut_down(self, _: Any) -> None:
        for document in self.documents:
            if document.task is not None:
                document.task.cancel()
        self.examiner.close()

    # ------------------------------------------------------------------------------------------------ settings

    @property
    def _folders(self) -> list[str]:
        """The paths of the workspace's folders."""
        found = (path_of(uri.rstrip("/"), (), "") for uri in self.lsp.workspace.folders)
        folders = [path for path, is_file in filter(None, found) if is_file]
        if not folders and self.lsp.workspace.root_path:
            folders.append(self.lsp.workspace.root_path)
        return folders

    async def _pull_options(self) -> None:
        """Asks the editor for its settings, for each folder, where it can be asked."""
        if not self._can("workspace", "configuration"):
            return
        uris = list(self.lsp.workspace.folders)
        items = [types.ConfigurationItem(uri, SECTION) for uri in uris]
        answers = await self.lsp.workspace_configuration_async(
            types.ConfigurationParams([types.ConfigurationItem(section=SECTION), *items])
        )
        self._options = {"": self._options.get("", {})}
        for uri, found in zip(["", *uris], answers, strict=False):
            path = path_of(uri.rstrip("/"), (), "") if uri else ("", True)
            if found and path is not None:
                self._set_options(path[0], found)
        self._examine_all()

    def _set_options(self, folder: str, found: Any) -> None:
        """Takes over what the editor says: a table, or one in a table of our name; keys as in pyproject.toml or in camelCase."""
        found = _plain(found)
        for name in (SECTION, "settings"):
            if isinstance(found, dict) and isinstance(found.get(name), dict):
                found = found[name]
        table = found if isinstance(found, dict) else {}
        self._options[folder] = {
            re.sub(r"(?<=[a-z])[A-Z]", lambda letter: f"-{letter.group().lower()}", key): value
            for key, value in table.items()
            if value is not None
        }

    def _options_of(self, path: str) -> Mapping[str, Any]:
        """The settings for a file: those of the innermost folder of the workspace that it is in."""
        within = [folder for folder in self._options if not folder or path.startswith(folder.rstrip(os.sep) + os.sep)]
        return self._options[max(within, key=len)] if within else {}

    async def _configured(self, params: types.DidChangeConfigurationParams) -> None:
        if params.settings:
            self._set_options("", params.settings)
        self._told.clear()
        await self._pull_options()
        self._examine_all()

    async def _folders_changed(self, _: types.DidChangeWorkspaceFoldersParams) -> None:
        await self._pull_options()
        self._examine_all()

    def _files_changed(self, params: types.DidChangeWatchedFilesParams) -> None:
        """Settings are read anew each time, so that an examination is enough; the other files of projects are not."""
        if any(change.uri.endswith(".toml") for change in params.changes):
            self._told.clear()
            self._examine_all()
        self._refresh_later()

    def _refresh_later(self) -> None:
        """A file was written: the examining process is to look at the projects again, once."""
        if self._refreshing is not None:
            self._refreshing.cancel()
        self._refreshing = asyncio.ensure_future(self._refresh())

    async def _refresh(self) -> None:
        await asyncio.sleep(_BEHIND_SAVES)
        await self.examiner.ask(Job("forget", Buffer("", ""), {}))
        self._examine_all()

    # ------------------------------------------------------------------------------------------------ documents

    def _opened(self, params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        if item.language_id not in (PYTHON, *_UNKNOWN):
            return
        found = path_of(item.uri, self._folders, _SUFFIX)
        if found is not None:
            self._open(Document(item.uri, *found, [_part(item)]))

    def _notebook_opened(self, params: types.DidOpenNotebookDocumentParams) -> None:
        found = path_of(params.notebook_document.uri, self._folders, _NOTEBOOK)
        if found is not None:
            texts = {item.uri: item for item in params.cell_text_documents}
            parts = [_cell(cell, texts) for cell in params.notebook_document.cells]
            self._open(Document(params.notebook_document.uri, *found, parts, is_notebook=True))

    def _open(self, document: Document) -> None:
        self.documents.open(document)
        self._examine(document, pause=False)

    def _changed(self, params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        document = self.documents.get(uri)
        if document is not None:
            document.change(uri, params.text_document.version, map(_change, params.content_changes), self._encoding)
            self._typed(document)

    def _notebook_changed(self, params: types.DidChangeNotebookDocumentParams) -> None:
        document = self.documents.get(params.notebook_document.uri)
        cells = params.change.cells
        if document is None or cells is None:
            return
        if cells.structure is not None:
            texts = {item.uri: item for item in cells.structure.did_open or ()}
            array = cells.structure.array
            known = {part.uri: part for part in document.parts}
            new = [known.get(cell.document) or _cell(cell, texts) for cell in array.cells or ()]
            document.parts[array.start : array.start + array.delete_count] = new
            document.revision += 1
        for cell in cells.data or ():
            for part in document.parts:
                if part.uri == cell.document and cell.kind is not types.NotebookCellKind.Code:
                    part.is_python = False
                    document.revision += 1
        for content in cells.text_content or ():
            item = content.document
            document.change(item.uri, item.version, map(_change, content.changes), self._encoding)
        self._typed(document)

    def _typed(self, document: Document) -> None:
        if self._options_of(document.path).get("run") != "onSave":
            self._examine(document)

    def _saved(self, params: types.DidSaveTextDocumentParams) -> None:
        self._written(self.documents.get(params.text_document.uri))

    def _notebook_saved(self, params: types.DidSaveNotebookDocumentParams) -> None:
        self._written(self.documents.get(params.notebook_document.uri))

    def _written(self, document: Document | None) -> None:
        if document is None:
            return
        if document.answered != document.revision:
            self._examine(document, pause=False)
        if document.on_disk and len(list(self.documents)) > 1 and member(document.path) is not None:
            self._refresh_later()  # other open files may ask this one

    def _closed(self, params: types.DidCloseTextDocumentParams) -> None:
        self._close(params.text_document.uri)

    def _notebook_closed(self, params: types.DidCloseNotebookDocumentParams) -> None:
        self._close(params.notebook_document.uri)

    def _close(self, uri: str) -> None:
        document = self.documents.close(uri)
        if document is not None:
            if document.task is not None:
                document.task.cancel()
            for told in document.told:
                self._publish(told, None, [])

    # ------------------------------------------------------------------------------------------------ examining

    def _examine_all(self) -> None:
        for document in self.documents:
            self._examine(document, pause=False)

    def _examine(self, document: Document, *, pause: bool = True) -> None:
        """Begins to examine what a document holds now. The examination of an older version ends."""
        if document.task is not None:
            document.task.cancel()
        document.answered = -1
        document.task = asyncio.ensure_future(self._examination(document, pause))

    async def _examination(self, document: Document, pause: bool) -> None:
        if pause:
            await asyncio.sleep(min(max(_SHARE * document.seconds, _SHORTEST_PAUSE), _LONGEST_PAUSE))
        loop = asyncio.get_running_loop()
        begun, revision = loop.time(), document.revision
        answer = await self._ask(Job("examine", document.buffer(), self._job_options(document)))
        document.seconds = loop.time() - begun
        if document.revision == revision and self.documents.get(document.uri) is document:
            document.answer, document.answered = answer, revision
            self._show(document, answer)

    def _job_options(self, document: Document) -> dict[str, Any]:
        return {key: value for key, value in self._options_of(document.path).items() if key != "run"}

    async def _ask(self, job: Job) -> Answer:
        answer = await self.examiner.ask(job)
        for problem in answer.problems:
            self._tell(problem, answer.refused)
        return answer

    def _tell(self, problem: str, aloud: bool) -> None:
        """Says once what could not be done: on the screen where the user has to mend it, else in the log."""
        if problem in self._told:
            return
        self._told.add(problem)
        problem = f"torchdevlint: {problem}"
        if aloud:
            self.lsp.window_show_message(types.ShowMessageParams(types.MessageType.Error, problem))
        else:
            self.lsp.window_log_message(types.LogMessageParams(types.MessageType.Error, problem))

    async def _known(self, document: Document) -> Answer | None:
        """What there is to say of a document as it is now; waits for an examination that is under way."""
        while document.answered != document.revision and self.documents.get(document.uri) is document:
            if document.task is None or document.task.done():
                self._examine(document, pause=False)
            assert document.task is not None
            await asyncio.wait({document.task})
        return document.answer

    def _show(self, document: Document, answer: Answer) -> None:
        """Publishes the diagnostics of all texts of a document."""
        told: dict[str, list[types.Diagnostic]] = {part.uri: [] for part in document.parts}
        for finding in answer.findings:
            told[document.part(finding.cell).uri].append(self._diagnostic(finding, document))
        for uri in document.told - told.keys():
            self._publish(uri, None, [])
        versions = {part.uri: part.version for part in document.parts}
        for uri, diagnostics in told.items():
            self._publish(uri, versions[uri], diagnostics)
        document.told = set(told)

    def _diagnostic(self, finding: Finding, document: Document) -> types.Diagnostic:
        related = self._can("text_document", "publish_diagnostics", "related_information")
        return translate.diagnostic(finding, document, self._encoding, self._open_text, related=related)

    def _open_text(self, path: str) -> Part | None:
        """The open text of a script, by its path."""
        return next((doc.parts[0] for doc in self.documents if doc.path == path and not doc.is_notebook), None)

    def _publish(self, uri: str, version: int | None, diagnostics: Sequence[types.Diagnostic]) -> None:
        self.lsp.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    # ------------------------------------------------------------------------------------------------ questions

    async def _hover(self, params: types.HoverParams) -> types.Hover | None:
        """The pages of the rules whose findings are here, or whose code stands in a comment here."""
        document = self.documents.of(params.text_document.uri)
        if document is None:
            return None
        here = types.Range(params.position, params.position)
        answer = await self._known(document)
        part = next(part for part in document.parts if part.uri == params.text_document.uri)
        pages: dict[str, list[str]] = {}
        found: Range | None = None
        for finding in answer.findings if answer is not None else ():
            span = document.part(finding.cell).text.range(finding.span, self._encoding)
            if document.part(finding.cell) is part and translate.touches(translate.range_of(span), here):
                told = f"{finding.message}. {finding.detail}" if finding.detail else finding.message
                pages.setdefault(finding.code, []).append(told)
                found = found or span
        if not pages:
            named = _code_at(part.text, Point(here.start.line, here.start.character), self._encoding)
            if named is None:
                return None
            pages[named[0]], found = [], named[1]
        texts = [await asyncio.get_running_loop().run_in_executor(None, _page, *item) for item in pages.items()]
        value = "\n\n---\n\n".join(filter(None, texts))
        if not value:
            return None
        formats = getattr(getattr(self.lsp.client_capabilities.text_document, "hover", None), "content_format", None)
        kind = types.MarkupKind.Markdown
        if formats and kind not in formats:
            kind = types.MarkupKind.PlainText
        return types.Hover(types.MarkupContent(kind, value), translate.range_of(found) if found else None)

    async def _actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        document = self.documents.of(params.text_document.uri)
        if document is None:
            return []
        answer = await self._known(document)
        if answer is None:
            return []
        only = params.context.only

        def is_wanted(kind: str) -> bool:
            return only is None or any(kind == str(one) or kind.startswith(f"{one}.") for one in map(_value, only))

        actions = []
        if is_wanted(types.CodeActionKind.QuickFix.value):
            actions += await self._quick_actions(document, params, answer)
        if is_wanted(translate.FIX_ALL) and _has_safe(answer.findings):
            everything = types.CodeAction("Apply all safe fixes of torchdevlint", translate.FIX_ALL)
            if only is None and self._can("text_document", "code_action", "resolve_support"):
                everything.data = {"uri": document.uri}
                actions.append(everything)
            elif only is not None:
                everything.edit = await self._fix_all(document)
                if everything.edit is not None:
                    actions.append(everything)
        return actions

    async def _quick_actions(
        self, document: Document, params: types.CodeActionParams, answer: Answer
    ) -> list[types.CodeAction]:
        """The fixes of the findings in a range, then the comments that suppress them."""
        here = []
        for finding in answer.findings:
            part = document.part(finding.cell)
            told = self._diagnostic(finding, document)
            if part.uri == params.text_document.uri and translate.touches(told.range, params.range):
                here.append((finding, told))
        fixes = [
            translate.quick_fix(finding, told, self._workspace_edit, document, self._encoding) for finding, told in here
        ]
        actions = [action for action in fixes if action is not None]
        silenced = {
            (finding.code, finding.noqa_row): (finding, told)
            for finding, told in here
            if translate.can_be_silenced(finding)
        }
        if silenced:
            job = Job(
                "suppress",
                document.buffer(),
                self._job_options(document),
                [finding for finding, _ in silenced.values()],
            )
            added = (await self._ask(job)).insertions
            for (finding, told), insertion in zip(silenced.values(), added, strict=False):
                part = document.part(insertion.cell)
                at = part.text.point(insertion.row, insertion.column, self._encoding)
                edit = types.TextEdit(translate.range_of(Range(at, at)), insertion.text)
                actions.append(
                    types.CodeAction(
                        f"Suppress {finding.code} on this line",
                        types.CodeActionKind.QuickFix,
                        [told],
                        edit=self._workspace_edit([(part, edit)]),
                    )
                )
        return actions

    async def _resolve(self, action: types.CodeAction) -> types.CodeAction:
        data = _plain(action.data)
        document = self.documents.get(data["uri"]) if isinstance(data, dict) and "uri" in data else None
        if document is not None and action.edit is None:
            action.edit = await self._fix_all(document)
        return action

    async def _fix_all(self, document: Document) -> types.WorkspaceEdit | None:
        """The edit that applies all safe fixes, in rounds as `check --fix` does; None where it changes nothing, or the text has changed."""
        revision = document.revision
        texts = (await self._ask(Job("fix", document.buffer(), self._job_options(document)))).texts
        if texts is None or document.revision != revision:
            return None
        return self._workspace_edit(
            (part, translate.text_edit(change))
            for part, text in zip(document.parts, texts, strict=True)
            if text is not None
            for change in part.text.edits_to(text, self._encoding)
        )

    def _workspace_edit(self, edits: Edits) -> types.WorkspaceEdit:
        """Edits of texts, for the versions that they were made for where the editor can be told."""
        by_part: dict[str, tuple[Part, list[types.TextEdit]]] = {}
        for part, edit in edits:
            by_part.setdefault(part.uri, (part, []))[1].append(edit)
        if not self._can("workspace", "workspace_edit", "document_changes"):
            return types.WorkspaceEdit({uri: found for uri, (_, found) in by_part.items()})
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, part.version), found)
                for uri, (part, found) in by_part.items()
            ]
        )


# ---------------------------------------------------------------------------------------------------- parts


def _function(method: Any) -> Any:
    """A function for a bound method: pygls notes on it what it handles."""
    if inspect.iscoroutinefunction(method):

        async def wait(params: Any) -> Any:
            return await method(params)

        return wait

    def call(params: Any) -> Any:
        return method(params)

    return call


def _part(item: TextItem) -> Part:
    return Part(item.uri, Text(item.text), item.version, item.language_id in (PYTHON, *_UNKNOWN))


def _cell(cell: types.NotebookCell, texts: Mapping[str, TextItem]) -> Part:
    """A cell; one whose text the editor does not send holds no Python."""
    item = texts.get(cell.document)
    part = _part(item) if item is not None else Part(cell.document, Text(""), None, is_python=False)
    part.is_python = part.is_python and cell.kind is types.NotebookCellKind.Code
    return part


def _change(change: types.TextDocumentContentChangeEvent) -> Change:
    found = getattr(change, "range", None)
    return Change(None if found is None else translate.ours(found), change.text)


def _has_safe(findings: Iterable[Finding]) -> bool:
    return any(f.fix is not None and f.fix.applicability is Applicability.SAFE for f in findings)


def _code_at(text: Text, point: Point, encoding: Encoding) -> tuple[str, Range] | None:
    """The code of a rule that stands in a comment at a place."""
    line = text.line(point.line)
    comment = line.find("#")
    for found in _CODE.finditer(line, comment) if comment >= 0 else ():
        start = text.point(point.line + 1, found.start() + 1, encoding)
        end = text.point(point.line + 1, found.end() + 1, encoding)
        if start <= point <= end:
            return found.group(), Range(start, end)
    return None


def _page(code: str, messages: Sequence[str]) -> str:
    """What there is to say of a finding here, then the page of its rule."""
    from torchdevlint.cli.rule import page
    from torchdevlint.rules.registry import rule_by_code

    rule = rule_by_code(code)
    told = "\n\n".join(dict.fromkeys(messages))
    return "\n\n".join(filter(None, (told, page(rule) if rule is not None else "")))


def _plain(value: Any) -> Any:
    """Dictionaries for the named tuples that pygls makes of what it does not know."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _value(kind: Any) -> str:
    return str(getattr(kind, "value", kind))


# ---------------------------------------------------------------------------------------------------- the process


def serve(stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Speaks the protocol until the editor ends it; the exit code. What is printed meanwhile goes to standard error."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    threads = ThreadPoolExecutor(2, "torchdevlint-io")
    try:
        asyncio.run(_speak(stdin, stdout, threads))
    except SystemExit as end:  # the editor said `exit`
        return end.code if isinstance(end.code, int) else 0
    except BrokenPipeError:
        pass
    finally:
        threads.shutdown(wait=False)
    return 1  # the editor is gone without a word


async def _speak(stdin: BinaryIO, stdout: BinaryIO, threads: ThreadPoolExecutor) -> None:
    server = Server()
    protocol = server.lsp.protocol
    protocol.set_writer(StdoutWriter(stdout))
    try:
        await run_async(threading.Event(), StdinAsyncReader(stdin, threads), protocol, error_handler=_failed)
    finally:
        server.examiner.close()


def _failed(error: Exception, source: Any) -> None:
    print(f"torchdevlint: {type(error).__name__}: {error}", file=sys.stderr)
