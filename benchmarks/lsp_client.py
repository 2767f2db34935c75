"""A client of the Language Server Protocol over pipes, as small as tests and measurements need it: JSON-RPC and nothing of a library."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Message = dict[str, Any]

CAPABILITIES: Message = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
        "codeAction": {"resolveSupport": {"properties": ["edit"]}},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}


class Client:
    """A running server. Requests that it sends are answered by `answers` (method to result; else null)."""

    def __init__(
        self, command: Sequence[str] = (sys.executable, "-m", "torchdevlint", "server"), cwd: str | Path = "."
    ):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, env=os.environ
        )
        self.answers: dict[str, Any] = {}
        self.notifications: list[Message] = []
        self.requests: list[Message] = []
        self.errors = b""
        self._results: dict[int, Message] = {}
        self._last = 0
        self._came: queue.Queue[Message | None] = queue.Queue()
        self._readers = [threading.Thread(target=target, daemon=True) for target in (self._read, self._read_errors)]
        for thread in self._readers:
            thread.start()

    # ------------------------------------------------------------------------------------------------ the wire

    def _read(self) -> None:
        assert self.process.stdout is not None
        while True:
            length = 0
            while (line := self.process.stdout.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not line:
                self._came.put(None)
                return
            self._came.put(json.loads(self.process.stdout.read(length)))

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors += line

    def _send(self, message: Message) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _take(self, seconds: float) -> None:
        """Waits for one message and sorts it."""
        message = self._came.get(timeout=seconds)
        if message is None:
            raise EOFError(f"the server ended: {self.errors.decode()}")
        if "method" not in message:
            self._results[message["id"]] = message
        elif "id" in message:
            self.requests.append(message)
            self._send({"id": message["id"], "result": self.answers.get(message["method"])})
        else:
            self.notifications.append(message)

    def until(self, found: Callable[[], Any], seconds: float = 120.0) -> Any:
        """Takes messages until something is found; raises `TimeoutError`."""
        end = time.monotonic() + seconds
        while not (result := found()):
            try:
                self._take(max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise TimeoutError(self.errors.decode() or "no answer") from None
        return result

    # ------------------------------------------------------------------------------------------------ the protocol

    def notify(self, method: str, params: Any = None) -> None:
        self._send({"method": method, "params": params})

    def send(self, method: str, params: Any = None) -> int:
        """Sends a request; its number."""
        self._last += 1
        self._send({"id": self._last, "method": method, **({} if params is None else {"params": params})})
        return self._last

    def request(self, method: str, params: Any = None) -> Any:
        """The result of a request; raises `RuntimeError` for an error."""
        number = self.send(method, params)
        answer = self.until(lambda: self._results.pop(number, None))
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["result"]

    def start(self, *folders: Path, capabilities: Message | None = None, options: Any = None) -> Message:
        """The handshake; the server's capabilities."""
        result: Message = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folders[0].as_uri() if folders else None,
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name} for folder in folders] or None,
                "capabilities": CAPABILITIES if capabilities is None else capabilities,
                "initializationOptions": options,
            },
        )
        self.notify("initialized", {})
        return result["capabilities"]

    def open(self, uri: str, text: str, version: int = 1, language: str = "python") -> None:
        item = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, *changes: Message) -> None:
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def diagnostics(self, uri: str, version: int | None = None, since: int = 0) -> list[Message]:
        """The diagnostics that are published for a text, of a version, in messages from number `since` on."""

        def found() -> Message | None:
            for message in self.notifications[since:]:
                if message["method"] == "textDocument/publishDiagnostics":
                    params = message["params"]
                    if params["uri"] == uri and (version is None or params.get("version") == version):
                        return message
            return None

        return self.until(found)["params"]["diagnostics"]

    def actions(self, uri: str, line: int, only: Sequence[str] | None = None) -> list[Message]:
        """The code actions of a line."""
        here = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 500}}
        context: Message = {"diagnostics": []} | ({} if only is None else {"only": list(only)})
        params = {"textDocument": {"uri": uri}, "range": here, "context": context}
        return self.request("textDocument/codeAction", params) or []

    def stop(self) -> int:
        """Ends the server as an editor does; its exit code."""
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait(timeout=60)

    def close(self) -> None:
        """Ends the server whatever it does."""
        self.process.kill()
        self.process.wait()
        for thread in self._readers:
            thread.join(5)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
