"""What is known about a document besides its text, validated.

Fields come from Markdown front matter, a sidecar or folder rules (chunkprep_ingest.rules), or
`chunkprep set`. Only `title` (and `valid_from` where the policy shows dates) reaches the text that
the model sees: a change there is a new version, a change of any other field updates rows in place.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from chunkprep_ingest.errors import ChunkprepError, MetadataError
from chunkprep_ingest.lifecycle import moment
from chunkprep_ingest.model import Moment


def _as_moment(value: object) -> object:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, (str, date, datetime, int)):
        raise ValueError("write a date such as 2026-03-01")
    try:
        return moment(value)
    except ChunkprepError as error:
        raise ValueError(str(error)) from error


def _as_texts(value: object) -> object:
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(part for part in (p.strip() for p in value.split(",")) if part)
    return value


def _as_text(value: object) -> object:
    if isinstance(value, (int, float, date)) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str):
        value = unicodedata.normalize("NFC", value.replace("\x00", "")).strip()
        return value or None
    return value


_WRITTEN_TIME = WithJsonSchema(
    {
        "anyOf": [
            {"type": "string", "format": "date-time"},
            {"type": "integer"},
            {"type": "null"},
        ]
    }
)
Time = Annotated[Moment | None, BeforeValidator(_as_moment), _WRITTEN_TIME]
"""A moment; a date and an ISO 8601 text are taken too."""
TimeGiven = Annotated[
    Moment | datetime | date | str | None, BeforeValidator(_as_moment), _WRITTEN_TIME
]
"""As Time, for type checkers too: what is read from it goes through `moment`, or `iso`."""
Text = Annotated[str | None, BeforeValidator(_as_text)]
"""A text without blanks around it; an empty one is none."""
Texts = Annotated[tuple[Annotated[str, BeforeValidator(_as_text)], ...], BeforeValidator(_as_texts)]
"""Texts; one text may hold several, with commas between."""


class Metadata(BaseModel):
    """One document version's metadata; moments in microseconds UTC, lists comma-separated too."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Text = None
    status: Literal["active", "draft", "withdrawn"] = "active"
    valid_from: Time = None
    valid_to: Time = None
    review_by: Time = None
    supersedes: Texts = ()
    """Keys of the documents that this one replaces."""
    authority: Annotated[int, Field(ge=0, le=100)] = 0
    access: Texts = ()
    source: Text = None
    """Where the text comes from as users say it ("intranet", "handbook"); filters match it."""
    tags: Texts = ()
    edition: Text = None

    @model_validator(mode="after")
    def _order(self) -> Metadata:
        if (
            self.valid_from is not None
            and self.valid_to is not None
            and self.valid_to <= self.valid_from
        ):
            raise ValueError("valid_to must be after valid_from")
        return self


METADATA_FIELDS = frozenset(Metadata.model_fields)
RENDERED_FIELDS = frozenset({"title"})
"""Fields that the header shows: a change there is a new version."""


def parse_metadata(raw: Mapping[str, Any], where: str) -> Metadata:
    """The metadata in `raw`; keys that are not ours are left alone.

    Raises MetadataError (bad_metadata) naming the field, its value and `where` it was written.
    """
    known = {key: raw[key] for key in raw if key in METADATA_FIELDS}
    try:
        return Metadata.model_validate(known)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = str(first["loc"][0]) if first["loc"] else "valid_to"
        reason = first["msg"].removeprefix("Value error, ")
        raise MetadataError(
            "bad_metadata", f"{where}: {field} = {known.get(field)!r}: {reason}"
        ) from error


def near_field(key: str) -> str | None:
    """The field that a key is misspelt of: one slip away (two in a long one), or None.

    Another case or hyphens for underscores count as no slip; a field itself is none.
    """
    if key in METADATA_FIELDS:
        return None
    plain = key.casefold().replace("-", "_")
    near = [(edit_distance(plain, field), field) for field in sorted(METADATA_FIELDS)]
    slips, field = min(near)
    return field if slips <= (2 if len(field) > _SHORT else 1) else None


_SHORT = 6  # letters: two slips make another word of a shorter one


def edit_distance(one: str, two: str) -> int:
    """Insertions, deletions, substitutions and swaps of neighbours between two words
    (optimal string alignment).
    """
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        rows = before, row
        before, row = row, [i]
        for j, b in enumerate(two, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                cost = min(cost, rows[0][j - 2] + 1)
            row.append(cost)
    return row[-1]
