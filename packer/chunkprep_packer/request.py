"""What a caller asks for: candidates, a budget and options, checked once and frozen.

The JSON of `PackRequest` is the JSON of the command line and of the HTTP service; every field has
the name of its command-line option. A bad request raises RequestError: one line, naming the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self
from unicodedata import normalize

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_serializer,
    field_validator,
    model_validator,
)
from pydantic_core import from_json

from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.metadata import TimeGiven
from chunkprep_ingest.model import BoundaryKind, Moment
from chunkprep_packer.complaint import complaint

Strategy = Literal["ranked", "stop_at_first_miss", "value_per_token"]
Dedupe = Literal["none", "exact", "near"]
Floor = Literal["fit", "always", "off"]
Truncate = Literal["floor", "any", "never"]
Order = Literal["rank", "best_last", "edges", "document", "chronological"]
OnSuperseded = Literal["drop", "forward"]

Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]
"""A finite number."""
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""From 0 to 1."""


MAX_BUDGET = 2**31 - 1
"""The largest budget (tokens) that the log's columns hold."""


def _as_many(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _as_stored(text: str) -> str:
    """Unicode NFC, as keys, tags and labels are stored."""
    if not _encodable(text):
        raise ValueError("lone surrogates name nothing that can be stored")
    return normalize("NFC", text)


Many = Annotated[
    Sequence[Annotated[str, AfterValidator(_as_stored)]],
    AfterValidator(tuple),
    BeforeValidator(_as_many),
]
"""Texts; one alone may stand for a list of one."""


_FEW_MICROSECONDS = 10**13
"""Some 116 days: a number of milliseconds of our days is below it."""

_TIMES = frozenset({"as_of", "effective_after"})
Flag = Annotated[bool, Field(strict=True)]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk id with the retriever's score (any scale, higher is better).

    `vector` is the chunk's embedding, needed for diversity only.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="ignore")

    chunk_id: str
    score: Number
    vector: Sequence[Number] | None = None


def _with_floats(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Scores of other kinds of numbers (numpy's, Decimal), and vectors that are arrays, as what
    JSON can hold.
    """
    return tuple(
        replace(each, score=_plain_number(each.score), vector=_plain_vector(each.vector))
        if _is_other_number(each.score) or hasattr(each.vector, "tolist")
        else each
        for each in candidates
    )


def _plain_number(score: Number) -> Number:
    try:
        return float(score) if _is_other_number(score) else score
    except OverflowError:  # a whole number that no float holds: it is infinite here
        return inf


def _plain_vector(vector: Any) -> Any:
    """A list, where it is a numpy array or another one that can be made a list."""
    return vector.tolist() if hasattr(vector, "tolist") else vector


def _is_other_number(score: object) -> bool:
    return type(score) is not float and hasattr(score, "__float__") and not isinstance(score, bool)


@dataclass(frozen=True, slots=True)
class PinText:
    """A text that the caller brings along (an uploaded file, a row): counted then and there.

    `name` becomes its header's label.
    """

    text: str
    name: str = "attached"


def _as_pin_text(value: object) -> object:
    return PinText(value) if isinstance(value, str) else value


def _encoded(pin: PinText) -> PinText:
    """Lone surrogates are U+FFFD, as in what is ingested: no JSON holds them."""
    if not (isinstance(pin.text, str) and isinstance(pin.name, str)):
        raise ValueError("text and name must be texts")
    if _encodable(pin.text) and _encodable(pin.name):
        return pin
    return PinText(without_surrogates(pin.text), without_surrogates(pin.name))


def without_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate; a pair is the character that it stands for."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class PackOptions(BaseModel):
    """Everything about a request except its candidates."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    budget: Annotated[int, Field(ge=1, le=MAX_BUDGET, strict=True)]
    """The slot, in tokens."""
    collection: Annotated[str, Field(min_length=1)] = "default"
    """The set of documents."""
    encoding: str | None = None
    """Prices of this encoding (default: the collection's own)."""
    min_score: Annotated[float, Field(allow_inf_nan=False)] | None = None
    """Candidates that score below are left out, in the caller's own scale."""
    strategy: Strategy = "ranked"
    """How the slot is filled: `ranked` takes the best first and skips what does not fit,
    `stop_at_first_miss` ends there, `value_per_token` goes by the score for each token."""
    mmr: Share | None = None
    """Lambda of maximal marginal relevance: 1 is relevance alone, 0 is diversity alone."""
    mmr_max_similarity: Share = 0.95
    """Cosine to a chosen chunk at which a candidate is left out, with mmr."""
    dedupe: Dedupe = "exact"
    """Which copies of a better-ranked candidate are left out: `exact` is equal text, `near` also
    nearly equal text of another document."""
    pin: Many = ()
    """Chunk ids and document keys, rendered first, in this order."""
    floor: Floor = "fit"
    """What is done for rank 1, the best candidate that survived the filters: `fit` packs it, cut
    if need be; `always` packs it whole, over the slot if need be; `off` leaves it to the fill."""
    truncate: Truncate = "floor"
    """Which blocks may be cut: `floor` is rank 1 only."""
    cut_at: BoundaryKind = "code_block"
    """The weakest boundary kind that a cut may use."""
    cut_any_kind: Flag = False
    """Whether chunks that are not truncatable (tables, code) may be cut too."""
    order: Order = "rank"
    """In what order the blocks stand: `rank` is best first, `edges` best at both ends, `document`
    as the documents have them, `chronological` oldest text first."""
    on_superseded: OnSuperseded = "drop"
    """Whether a superseded candidate is left out, or its successor in force taken."""
    as_of: TimeGiven = None
    """What was in force then: ISO 8601, or microseconds UTC (default: now)."""
    source: Many = ()
    """Globs over a chunk's source or document key; one must match."""
    tag: Many = ()
    """Tags; a chunk needs one of them."""
    access: Many = ()
    """The caller's access labels; a chunk with labels needs one of them."""
    min_authority: int | None = None
    """Only documents of at least this authority, 0 to 100."""
    effective_after: TimeGiven = None
    """Only what came into force after: ISO 8601, or microseconds UTC."""
    ordinals: Flag = False
    """Whether blocks are numbered in their headers."""
    partial_note: Flag = False
    """Whether a line at the end says that more was found than fits; it is priced too."""
    log: Flag = True
    """Whether the pack is logged."""
    log_pinned_text: Flag = False
    """Whether the pack log may hold the pinned texts themselves (else hash and token count)."""

    if not TYPE_CHECKING:

        def __init__(self, /, *positional: object, **values: Any) -> None:
            """Check the values. Raises RequestError naming the field."""
            if positional:
                raise TypeError(
                    f"{type(self).__name__} takes its fields by name, as in "
                    f"{type(self).__name__}(budget=1600, candidates=hits)"
                )
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise complaint(error, type(self).model_fields) from error

    def fields_of(self, names: Iterable[str]) -> dict[str, Any]:
        """Those fields, to make another request of: times as texts, whose unit nobody mistakes."""
        found = {name: getattr(self, name) for name in names}
        for name in _TIMES & found.keys():
            found[name] = self._moment_text(found[name])
        return found

    @field_validator(*_TIMES, mode="before")
    @classmethod
    def _check_unit(cls, value: object) -> object:
        """A number of seconds or milliseconds is a moment of early 1970."""
        if isinstance(value, int) and value and abs(value) < _FEW_MICROSECONDS:
            raise ValueError(
                f"{value} microseconds is {iso(value)}; a number counts microseconds: multiply, or "
                f"write ISO 8601"
            )
        return value

    @field_validator(*_TIMES)
    @classmethod
    def _check_moment(cls, value: Moment | None) -> Moment | None:
        try:
            iso(value)
        except OverflowError as error:
            raise ValueError(f"{value} microseconds are not within the years 1 to 9999") from error
        return value

    @field_serializer(*_TIMES)
    def _moment_text(self, value: Moment | None) -> str | None:
        return iso(value)


class PackRequest(PackOptions):
    """A request: options, candidates in any order, texts to pin, and the query's vector."""

    candidates: Annotated[Sequence[Candidate], AfterValidator(_with_floats)]
    """What the retriever found, in any order."""
    pin_text: Annotated[
        Sequence[Annotated[PinText, BeforeValidator(_as_pin_text), AfterValidator(_encoded)]],
        AfterValidator(tuple),
    ] = ()
    """Texts that are not in the store, rendered after `pin`."""
    query_vector: Annotated[
        Annotated[Sequence[Number], AfterValidator(tuple)] | None, BeforeValidator(_plain_vector)
    ] = None
    """The question's embedding: relevance for mmr is then the cosine to it, not the score."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_storable("collection", self.collection)
        for at, pin in enumerate(self.pin):
            _check_storable(f"pin[{at}]", pin)
        _check_candidates(self.candidates)
        _check_vectors(self)
        return self

    @classmethod
    def from_json(cls, text: str | bytes) -> PackRequest:
        """The request in a JSON object. Raises RequestError for anything else."""
        try:
            fields = from_json(text)
            if isinstance(fields, dict):
                return cls(**fields)
        except ValueError:
            pass
        try:  # no JSON, or no object: pydantic says which
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise complaint(error, cls.model_fields) from error


def _check_storable(field: str, text: str) -> None:
    """Refuse texts that no database can hold (NUL, lone surrogates) before they reach one."""
    if not text or "\x00" in text or not _encodable(text):
        raise RequestError(f"{field}: {text!r} names nothing that can be stored", field)


def _encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _check_candidates(candidates: Sequence[Candidate]) -> None:
    for at, candidate in enumerate(candidates):
        name = candidate.chunk_id
        if not isinstance(name, str) or not name.isprintable() or not name:
            raise RequestError(
                f"candidates[{at}].chunk_id: must be a printable text, not {name!r}",
                "candidates.chunk_id",
            )
        score = candidate.score
        if isinstance(score, (str, bytes, bool)) or score is None or not isfinite(score):
            raise RequestError(
                f"candidates[{at}].score: must be a finite number, not {score!r}; leave out what "
                f"the retriever could not score",
                "candidates.score",
            )


def _check_vectors(request: PackRequest) -> None:
    vectors = [candidate.vector for candidate in request.candidates]
    if request.mmr is not None:
        empty = (at for at, vector in enumerate(vectors) if vector is None or len(vector) == 0)
        without = next(empty, None)
        if without is not None:
            raise RequestError(
                f"candidates[{without}].vector: mmr needs the vector of every candidate; add it, "
                f"or leave mmr out",
                "candidates.vector",
            )
    known = [("query_vector", request.query_vector)] if request.query_vector is not None else []
    known += [
        (f"candidates[{at}].vector", vector)
        for at, vector in enumerate(vectors)
        if vector is not None
    ]
    for name, vector in known[1:]:
        first, length = known[0][0], len(known[0][1])
        if len(vector) != length:
            raise RequestError(
                f"{name}: {len(vector)} numbers, where {first} has {length}; take all "
                f"vectors from one embedding model",
                "query_vector" if name == "query_vector" else "candidates.vector",
            )
