"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the singular for one: "1 chunk", "1,200 chunks"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
