"""Where a rule's page is."""

from __future__ import annotations

# A URI reference from the root of this project's source, as it has no public address yet. When pyproject.toml names one
# (`[project.urls]`), it belongs in front of this: a test holds the two together.
PAGES = "docs/rules/"


def url(code: str) -> str | None:
    """The page of a rule, as a URI reference: `docs/rules/TDL101.md`; None for a rule of another package."""
    return f"{PAGES}{code}.md" if code.startswith("TDL") else None
