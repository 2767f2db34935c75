"""What the policy asks of a load."""

from torchdevlint.facts.loads import is_given_no_file

__all__ = ["is_given_no_file"]
