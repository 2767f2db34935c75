"""The language server: open buffers, examined in a process of its own, told to an editor. `serve` alone knows pygls."""
