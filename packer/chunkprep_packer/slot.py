"""Slot arithmetic: the tokens left for retrieved text once the rest of the window is subtracted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from chunkprep_ingest.counting import Counter
from chunkprep_ingest.errors import RequestError, SlotError

Term = int | str | Sequence[int | str]
"""Tokens, a text to count, or a sequence of either (one for each message)."""


class SlotTerms(NamedTuple):
    """Every term of the subtraction, in tokens. `slot` is what is left, under the cap."""

    window: int
    reserved_output: int
    system: int
    tools: int
    history: int
    question: int
    pinned: int
    framing: int
    formatting_overhead: int
    margin: int
    cap: int | None

    @property
    def left(self) -> int:
        """The window minus everything else; negative where that is more than the window."""
        return self.window - sum(self[1:10])

    @property
    def slot(self) -> int:
        """The tokens for retrieved text. Raises SlotError, naming every term, below 1."""
        left = self.left if self.cap is None else min(self.left, self.cap)
        if left < 1:
            raise SlotError(f"{self.equation()}; shorten a term, or take a larger window", "window")
        return left

    def equation(self) -> str:
        """The subtraction in one line, with every term, zeros too."""
        parts = " - ".join(f"{name} {getattr(self, name)}" for name in self._fields[1:10])
        cap = "" if self.cap is None else f", cap {self.cap}"
        return f"window {self.window} - {parts} leaves {self.left} tokens for retrieved text{cap}"


def slot_terms(
    *,
    window: int,
    reserved_output: int = 0,
    system: Term = 0,
    tools: Term = 0,
    history: Term = (),
    question: Term = 0,
    pinned: Term = 0,
    formatting_overhead: int = 0,
    margin: int = 0,
    cap: int | None = None,
    per_message: int = 0,
    per_reply: int = 0,
    counter: Counter | None = None,
) -> SlotTerms:
    """The terms of `slot`, counted.

    Texts are counted with `counter` (default: o200k_base). The chat format adds `per_message`
    tokens to the system text, to each entry of the history and to the question, and `per_reply`
    once. Raises RequestError for a negative or non-integer term.
    """
    spoken = {"system": system, "history": history, "question": question}
    counted = {"tools": tools, "pinned": pinned, **spoken}
    tokens = {name: _tokens(name, term, counter) for name, term in counted.items()}
    messages = sum(_messages(term) for term in spoken.values())
    framing = messages * _whole("per_message", per_message) + _whole("per_reply", per_reply)
    return SlotTerms(
        window=_whole("window", window),
        reserved_output=_whole("reserved_output", reserved_output),
        framing=framing,
        formatting_overhead=_whole("formatting_overhead", formatting_overhead),
        margin=_whole("margin", margin),
        cap=None if cap is None else _whole("cap", cap),
        **tokens,
    )


def slot(
    *,
    window: int,
    reserved_output: int = 0,
    system: Term = 0,
    tools: Term = 0,
    history: Term = (),
    question: Term = 0,
    pinned: Term = 0,
    formatting_overhead: int = 0,
    margin: int = 0,
    cap: int | None = None,
    per_message: int = 0,
    per_reply: int = 0,
    counter: Counter | None = None,
) -> int:
    """Tokens left for retrieved text: the window minus every other term, at most `cap`.

    Terms as in `slot_terms`. Raises SlotError, naming every term, for a result below 1.
    """
    return slot_terms(
        window=window,
        reserved_output=reserved_output,
        system=system,
        tools=tools,
        history=history,
        question=question,
        pinned=pinned,
        formatting_overhead=formatting_overhead,
        margin=margin,
        cap=cap,
        per_message=per_message,
        per_reply=per_reply,
        counter=counter,
    ).slot


def _parts(term: Term) -> Iterable[int | str]:
    return term if isinstance(term, Iterable) and not isinstance(term, str) else (term,)


def _messages(term: Term) -> int:
    return sum(1 for part in _parts(term) if part)


def _tokens(name: str, term: Term, counter: Counter | None) -> int:
    return sum(
        _count(name, part, counter) if isinstance(part, str) else _whole(name, part)
        for part in _parts(term)
    )


def _count(name: str, text: str, counter: Counter | None) -> int:
    if counter is None:
        from chunkprep_ingest.tokens import tiktoken_counter

        counter = tiktoken_counter("o200k_base")
    try:
        return counter.count(text)
    except UnicodeEncodeError as error:
        raise RequestError(f"{name}: {error.reason}, so that it is no text", name) from error


def _whole(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise RequestError(f"{name}: must be a whole number of tokens from 0, not {value!r}", name)
    return value
