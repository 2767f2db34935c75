"""TDL001: comments that suppress nothing. The linter itself finds them, behind all other rules."""

from torchdevlint.rules.rule import WARNING, Rule


class UnusedSuppression(Rule):
    """Checks for suppression comments that suppress no finding.

    ## Why is this bad?
    A suppression that outlives its fault hides the next one on the same line. Only codes of this tool are judged, and only those whose
    rules ran; a bare `# noqa` belongs to every linter and is never reported.

    ## Example
    ```python
    state = torch.load("model.pt", map_location="cpu")  # noqa: TDL101
    ```

    ## Use instead
    ```python
    state = torch.load("model.pt", map_location="cpu")
    ```

    ## Fix safety
    Safe: the fix removes the codes that suppress nothing, and the comment when none is left.
    """

    code, name, severity = "TDL001", "unused-suppression", WARNING
    default = False
    fixable = "safe"
