"""Which torch a project asks for, as its requirements, its environment, its set-up script, or the commands that install it spell it."""

from __future__ import annotations

import re
from collections.abc import Iterable

Version = tuple[int, int]

# The names of the texts that say what a project is installed with.
STATES_REQUIREMENTS = re.compile(
    r"requirements[\w.-]*\.txt|environment[\w.-]*\.ya?ml|cog\.ya?ml|setup\.(?:py|cfg)|pyproject\.toml"
)
# The names of the texts that say by which commands.
STATES_COMMANDS = re.compile(
    r"(?i)(?:readme|install\w*)(?:\.(?:md|rst|txt))?|dockerfile[\w.-]*|[\w.-]+\.dockerfile|(?:install|setup)[\w-]*\.sh"
)
# What a project asks for that has kernels for CUDA: as a requirement of all that it does, or of a part.
_KERNELS = re.compile(
    r"""(?m)^[^#\n]*\b(?:triton|mamba[-_]ssm|causal[-_]conv1d|transformer[-_]engine|cupy|fbgemm)(?![\w.])"""
)
# `torch==1.9.0`, `- pytorch=1.9`, `"torch>=2.1,<2.3"`, `torch = "^1.9"`: the name, and what is said of it.
_STATEMENT = re.compile(
    r"""(?mi)(?:^[ \t]*(?:-[ \t]+)?["']?(?:pytorch::)?|["'])(?:py)?torch(?![\w.:/-])(?:\[[^\[\]\n]*\])?[ \t]*=?[ \t]*["']?([^"'#;\n]*)"""
)
_CLAUSE = re.compile(r"(?:\A|[, (])(===?|=|<=?|~=|\^|>=?|!=|~|) ?(\d{1,6})(?!\d)(?:\.(\d{1,6})(?!\d))?(?:\.(\d+))?")
_FROM = frozenset({"", "=", "==", "===", "~=", "~", "^", ">", ">="})
_LONGEST = 1000  # characters of what is said of a package
# `pip install`, `conda create`, `poetry add`; the image that a container starts from.
_INSTALLS = re.compile(r"\b(?:pip3?|conda|mamba|micromamba|poetry|pdm|uv)\b[^\n]{0,40}?\b(?:install|create|add)\b(.*)")
_IMAGE = re.compile(r"[ \t]*FROM[ \t]+(?:[^ \t/]+/)*pytorch/pytorch:(\d[\d.]*)")
# `- PyTorch 1.3.1`, `* **torch**: 1.9`, `requires PyTorch 1.x`; what a text was tested or developed with rules nothing out.
_IN_PROSE = re.compile(
    r"""(?ix)
    (?: ^[ \t]*(?:[-*+]|\d+[.)])[ \t]+ | \b(?:requires?|required|needs?|prerequisites?|requirements?|dependenc(?:y|ies))\b[^\n.]{0,60}? (?<![\w-]) )
    [*_`\[]* (?:py)?torch (?![\w-]) (?:[*_`\]]|\([^()\d]*\))* [ \t]*:?[ \t]* (?:\(?(?:version|install(?:ed|ation)?)[ \t]*:?[ \t]*)? [(*_`]*
    (?P<operator>[<>=~≥≤]{0,2}) [ \t]* v? (?P<version>\d+(?:\.(?:\d+|x))*)
    (?P<open>[ \t`*_]*(?:\+|\(?(?:or|and|,)?[ \t]*(?:later|above|newer|higher|greater|up|over|onwards?)\b|-|\u2013|~|to\b|/|,[ \t]*\d|(?:or|and)[ \t]+v?\d))?
    """
)
_NAMED_NEXT = frozenset({"-c", "--channel", "-n", "--name", "-r", "--requirement", "-f", "--find-links"})
_TORCH = re.compile(r"(?:pytorch::)?(?:py)?torch(?:[=<>~!^].*)?")


def asks_for_torch(texts: Iterable[tuple[str, str]]) -> bool:
    """True where one of these texts (each with its name) speaks of torch."""
    return any(_STATEMENT.search(_dependencies(name, text)) for name, text in texts)


def first_torch_beyond(texts: Iterable[tuple[str, str]]) -> Version | None:
    """The first minor version of torch that none of these texts (each with its name) lets in; None where one is open, or none speaks of torch."""
    bounds = [_bound(found[1]) for name, text in texts for found in _STATEMENT.finditer(_dependencies(name, text))]
    known = [bound for bound in bounds if bound is not None]
    return max(known) if known and len(known) == len(bounds) else None


def oldest_torch(texts: Iterable[tuple[str, str]]) -> Version | None:
    """The oldest minor version of torch that one of these texts (each with its name) lets in; None where one has no lower end, or none speaks of torch."""
    ends = [_lower_end(found[1]) for name, text in texts for found in _STATEMENT.finditer(_dependencies(name, text))]
    known = [end for end in ends if end is not None]
    return min(known) if known and len(known) == len(ends) else None


def commanded(text: str) -> str:
    """What the commands of a text install as torch, as lines of requirements: of a README, a script, or a recipe of a container."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        line = line[:_LONGEST]
        if line.lstrip().startswith("#"):
            continue
        image, command = _IMAGE.match(line), _INSTALLS.search(line)
        if image:
            found.append(f"torch=={image[1]}")
        given = re.split(r"[ \t]#", command[1])[0] if command else ""
        words = [word.strip("'\"`,;)") for word in given.split()]
        found += [
            word
            for before, word in zip(["", *words], words, strict=False)
            if before not in _NAMED_NEXT and _TORCH.fullmatch(word)
        ]
    return "\n".join(found)


def listed(text: str) -> str:
    """What a text for readers lists as required torch, as lines of requirements; more than one version is none that rules another out."""
    found = []
    for line in text.splitlines():
        for said in _IN_PROSE.finditer(line[:_LONGEST]):
            operator = {"≥": ">=", "≤": "<="}.get(said["operator"], said["operator"])
            exact = said["version"].removesuffix(".x")
            found.append("torch" if said["open"] else f"torch{operator or '=='}{exact}")
    return "\n".join(found)


def asks_for_kernels(texts: Iterable[tuple[str, str]]) -> bool:
    """True where one of these texts (each with its name) names a package of kernels for CUDA, such as triton."""
    return any(_KERNELS.search(_dependencies(name, text)) for name, text in texts)


def _dependencies(name: str, text: str) -> str:
    """The part of a text that lists dependencies: an environment names its channels before, of which one is called pytorch."""
    return (
        text.partition("dependencies:")[2]
        if name.startswith("environment") and name.endswith(("yml", "yaml"))
        else text
    )


def _bound(said: str) -> Version | None:
    """The first minor version beyond `>=2.1,<2.3`, `==1.9.0` or `^1.9`; None for one without an end."""
    said = " ".join(said[:_LONGEST].split())
    bounds = [bound for clause in _CLAUSE.findall(said) if (bound := _beyond(*clause)) is not None]
    return min(bounds, default=None)


def _lower_end(said: str) -> Version | None:
    """The oldest minor version in `>=2.1,<2.3`, `==1.9.0` or `^1.9`; None for one without a lower end."""
    clauses = _CLAUSE.findall(" ".join(said[:_LONGEST].split()))
    return max(
        ((int(major), int(minor or 0)) for operator, major, minor, _ in clauses if operator in _FROM), default=None
    )


def _beyond(operator: str, major: str, minor: str, patch: str) -> Version | None:
    release = (int(major), int(minor or 0))
    following = (release[0], release[1] + 1)
    if operator == "<":
        return following if patch.strip("0") else release
    if operator == "^" or (operator == "~=" and not patch):
        return (release[0] + 1, 0)
    if operator in ("", "=", "==", "===", "<=", "~=", "~"):
        return following if minor else (release[0] + 1, 0)
    return None


# A section on what is needed, and what of it is a GPU; a sentence that says so. A command that installs torch with CUDA is one of several that do.
_NEEDS_CUDA = re.compile(
    r"^#+[^\n]*(?:requirement|prerequisite|dependenc|environment|install)[^\n]*\n(?:(?!#)[^\n]*\n){0,14}?"
    r"(?![^\n]*\b(?:pip3?|conda|mamba)\b[^\n]*\b(?:install|create)\b)[^#\n]*\b(?:CUDA|cudatoolkit|NVIDIA)\b"
    r"|(?<!not )(?<!n't )\b(?:requires?|needs?|must have)\b(?! no\b| not\b| neither\b)[^.\n]{0,80}\b(?:CUDA|NVIDIA|GPUs?)\b"
    r"|\b(?:CUDA|GPUs?)\b[^.\n]{0,30}\b(?:is|are) (?:required|needed)\b",
    re.IGNORECASE | re.MULTILINE,
)


def asks_for_cuda(text: str) -> bool:
    """True for instructions that list CUDA among what is needed, or say that a GPU is."""
    return _NEEDS_CUDA.search(text) is not None
