"""Neovim, headless, with the set-up that docs/editors.md gives: its own diagnostics, hover and code actions. Skipped where there is no `nvim`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls")

ROOT = Path(__file__).parents[2]
SECONDS = 120
FAULTY = "import torch\n\ndevice = torch.device('cpu')\nx = torch.zeros(3)\n"

# What a user does: open, type a line, ask what it means, look at the quick fixes, apply all safe fixes.
DRIVER = """
local seen = {}
local function codes()
  local found = {}
  for _, item in ipairs(vim.diagnostic.get(0)) do table.insert(found, item.code) end
  return found
end
local function ask(method, params)
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, 30000) or {}) do return answer.result end
end
local function at(row) return vim.lsp.util.make_given_range_params({row, 0}, {row, 1}) end
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 20)
seen.opened = codes()
vim.api.nvim_buf_set_lines(0, 4, 4, false, {'x.to(device)'})
vim.wait(60000, function() return #vim.diagnostic.get(0) > 1 end, 20)
seen.typed = codes()
vim.api.nvim_win_set_cursor(0, {5, 2})
seen.hover = ask('textDocument/hover', vim.lsp.util.make_position_params()).contents.value
local wanted = at(5)
wanted.context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics(0, 4) }
seen.titles = {}
for _, action in ipairs(ask('textDocument/codeAction', wanted)) do table.insert(seen.titles, action.title) end
wanted.context = { only = {'source.fixAll'}, diagnostics = {} }
local action = ask('textDocument/codeAction', wanted)[1]
seen.kind = action.kind
vim.lsp.util.apply_workspace_edit((action.edit and action or ask('codeAction/resolve', action)).edit, 'utf-16')
vim.wait(60000, function() return #vim.diagnostic.get(0) == 0 end, 20)
seen.left = #vim.diagnostic.get(0)
seen.text = vim.api.nvim_buf_get_lines(0, 0, -1, false)
local out = io.open(os.getenv('SEEN'), 'w')
out:write(vim.fn.json_encode(seen))
out:close()
vim.cmd('qa!')
"""


def set_up() -> str:
    """The block of docs/editors.md that was tried."""
    blocks = re.findall(r"```lua\n(.*?)```", (ROOT / "docs" / "editors.md").read_text(encoding="utf-8"), re.DOTALL)
    (block,) = (block for block in blocks if "start_client" in block)
    return str(block)


@pytest.mark.skipif(shutil.which("nvim") is None, reason="no Neovim here")
def test_neovim_shows_what_the_server_tells(tmp_path: Path) -> None:
    (tmp_path / "init.lua").write_text(set_up())
    (tmp_path / "drive.lua").write_text(DRIVER)
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text("[tool.torchdevlint]\n")
    (project / "a.py").write_text(FAULTY + "x.to(device)\n")
    environment = {
        **os.environ,
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))),
        "HOME": str(tmp_path),
        "SEEN": str(tmp_path / "seen.json"),
        **{f"XDG_{kind}_HOME": str(tmp_path / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")},
    }
    command = ["nvim", "--headless", "-n", "-i", "NONE", "-u", str(tmp_path / "init.lua"), "a.py"]
    command += ["-c", f"luafile {tmp_path / 'drive.lua'}"]
    done = subprocess.run(
        command, cwd=project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS
    )
    path = tmp_path / "seen.json"
    assert path.exists(), done.stderr.decode(errors="replace")
    seen = json.loads(path.read_text(encoding="utf-8"))
    assert seen["opened"] == ["TDL501"] and seen["typed"] == ["TDL501", "TDL501"]
    assert "# discarded-device-move (TDL501)" in seen["hover"]
    assert any(title.startswith("TDL501: ") for title in seen["titles"])
    assert "Suppress TDL501 on this line" in seen["titles"]
    assert seen["kind"] == "source.fixAll.torchdevlint"
    assert seen["left"] == 0 and seen["text"].count("x = x.to(device)") == 2
