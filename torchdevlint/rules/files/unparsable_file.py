"""TDL000: what the linter says of a file that it cannot read as Python."""

from torchdevlint.rules.rule import ERROR, Rule


class UnparsableFile(Rule):
    """Checks for files that cannot be read as Python, so that no other rule can look at them.

    ## Why is this bad?
    A file that does not parse does not run, and a linter that says nothing of it would look as if the file were good. The file has a
    syntax error, is Python 2, is not in the encoding that it states (UTF-8 when it states none), holds a NUL byte, or nests or chains
    its expressions deeper than a parser can take (200 brackets, CPython's own limit).

    A file of Python 2 is a note: where that is still installed it runs, and with it an old PyTorch.

    Only files that mention PyTorch or a device are parsed at all; the rule says nothing of others. An error of it cannot be turned off
    or suppressed: exclude the file instead.

    ## Example
    ```python
    import torch

    print(torch.cuda.is_available(
    ```

    ## Use instead
    ```python
    import torch

    print(torch.cuda.is_available())
    ```

    ## References
    - [PEP 263: source code encodings](https://peps.python.org/pep-0263/)
    """

    code, name, severity = "TDL000", "unparsable-file", ERROR
