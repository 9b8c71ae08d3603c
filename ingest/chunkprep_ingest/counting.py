"""How tokens are counted: one method, so that any tokenizer can stand behind it."""

from __future__ import annotations

from typing import Protocol


class Counter(Protocol):
    """Counts the tokens of a text, special tokens read as ordinary text."""

    @property
    def encoding(self) -> str:
        """The encoding's name, for example "o200k_base"."""
        ...

    @property
    def fingerprint(self) -> str:
        """Moves whenever a count could: vocabulary, pattern and library version."""
        ...

    def count(self, text: str) -> int:
        """Tokens of `text` by itself."""
        ...
