"""How documents are split: the policy that chunks depend on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Final, Literal, get_args

from chunkprep_ingest.errors import PolicyError
from chunkprep_ingest.ids import fingerprint
from chunkprep_ingest.model import ElementKind

SPLITTER_VERSION = "1"
"""Raise it with every change that can move a chunk's edge."""

MIN_CAP = 16
MAX_CAP = 100_000_000
"""Above every model's window, and below what a database's integers hold."""

Sharing = Literal["mixed", "alone"]
WideRows = Literal["records", "cells"]
HeaderField = Literal["page", "date"]

SHARINGS: Final[tuple[Sharing, ...]] = get_args(Sharing)
WIDE_ROWS: Final[tuple[WideRows, ...]] = get_args(WideRows)
HEADER_FIELDS: Final[tuple[HeaderField, ...]] = get_args(HeaderField)

_FIRST_FIELDS = frozenset({"cap", "target", "minimum", "span_sections", "header_share"})
"""In every fingerprint; a later setting only where it is not at its default, so that chunks made
before there was one keep their policy."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Sizes in tokens of the whole block: header, body and delimiter together.

    `cap` is never exceeded. `target` (default: the cap) is the size that balanced splitting aims
    for at most. A run of text below `minimum` (default: an eighth of the cap) joins its
    neighbour instead of standing alone. `span_sections` lets a chunk hold several sibling
    sections. `header_share` is the part of the cap that a header, and a table's repeated header,
    may take; `header_fields` are shown in it besides title and heading path: the page that the
    chunk starts on, the date that the version is valid from.

    `tables` and `code` say whether such an element may share a chunk with what stands around it
    ("mixed") or has chunks of its own, with its heading ("alone"). A part of a table repeats the
    table's header (`repeat_table_header`), a part of a code block opens and closes its fence
    (`reopen_code_fences`). A row that does not fit a block stands as one record with a line
    "column: value" for each cell, or is cut between cells (`wide_rows`).
    """

    cap: int = 512
    target: int | None = None
    minimum: int | None = None
    span_sections: bool = True
    header_share: float = 0.25
    header_fields: Sequence[HeaderField] = ()
    tables: Sharing = "mixed"
    code: Sharing = "mixed"
    repeat_table_header: bool = True
    reopen_code_fences: bool = True
    wide_rows: WideRows = "records"

    def __post_init__(self) -> None:
        """Refuse nonsense, naming what would work."""
        self._refuse_unknown_words()
        shown = tuple(name for name in HEADER_FIELDS if name in self.header_fields)
        object.__setattr__(self, "header_fields", shown)  # one order, whoever wrote them
        if self.cap < MIN_CAP:
            raise PolicyError(
                f"cap {self.cap} leaves no room for a header and text; use at least {MIN_CAP}"
            )
        if self.cap > MAX_CAP:
            raise PolicyError(f"cap {self.cap} is no model's window; use at most {MAX_CAP}")
        if not 0 < self.header_share <= 0.5:
            raise PolicyError(f"header_share {self.header_share} must be above 0 and at most 0.5")
        if not self.cap // 4 <= self.target_tokens <= self.cap:
            raise PolicyError(
                f"target {self.target} must lie between {self.cap // 4} (a quarter of the cap) "
                f"and {self.cap} (the cap)"
            )
        if not 0 <= self.minimum_tokens <= self.target_tokens // 2:
            raise PolicyError(
                f"minimum {self.minimum} must lie between 0 and {self.target_tokens // 2} (half "
                f"the target)"
            )

    def _refuse_unknown_words(self) -> None:
        for field, words, known in (
            ("tables", (self.tables,), SHARINGS),
            ("code", (self.code,), SHARINGS),
            ("wide_rows", (self.wide_rows,), WIDE_ROWS),
            ("header_fields", self.header_fields, HEADER_FIELDS),
        ):
            for word in words:
                if word not in known:
                    raise PolicyError(f"{field}: {word!r} is not one of {', '.join(known)}")

    @property
    def target_tokens(self) -> int:
        """The target in force."""
        return self.cap if self.target is None else self.target

    @property
    def minimum_tokens(self) -> int:
        """The minimum in force."""
        return self.cap // 8 if self.minimum is None else self.minimum

    @property
    def alone(self) -> frozenset[ElementKind]:
        """The kinds of element that have chunks of their own."""
        kinds: dict[ElementKind, Sharing] = {"table": self.tables, "code": self.code}
        return frozenset(kind for kind, sharing in kinds.items() if sharing == "alone")

    @property
    def fingerprint(self) -> str:
        """Moves with every setting and with the splitter's version."""
        return _fingerprint(self, SPLITTER_VERSION)


@cache
def _fingerprint(policy: Policy, version: str) -> str:
    standing = {field.name: field.default for field in fields(policy)}
    settings = {
        name: value
        for name, value in asdict(policy).items()
        if name in _FIRST_FIELDS or value != standing[name]
    }
    return fingerprint("policy", version, json.dumps(settings, sort_keys=True))
