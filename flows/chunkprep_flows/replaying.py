"""Logged packs replayed another way: what changes, and whether labelled answers are there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from chunkprep_ingest.errors import RequestError
from chunkprep_packer import Comparison, Label, Replayed, read_labels, score_spans
from chunkprep_packer.compare import compare
from chunkprep_packer.decide import Plan


@dataclass(frozen=True, slots=True)
class Spans:
    """Of the labelled spans of a request, how many stand in its context before and after."""

    labelled: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """One pack replayed. `comparison` is None where it could not be: `error` says why.

    `spans` is None where nothing is labelled.
    """

    request_id: str
    comparison: Comparison | None = None
    spans: Spans | None = None
    error: str | None = None


def outcomes(
    replays: Iterable[Replayed], labels: Iterable[Label] = (), *, small: int
) -> Iterator[Outcome]:
    """What each replay changes; blocks below `small` tokens are small."""
    by_request: defaultdict[str, list[Label]] = defaultdict(list)
    for label in labels:
        by_request[label.request_id].append(label)
    for replayed in replays:
        name, before, after = replayed.request_id, replayed.before, replayed.after
        if before is None or after is None:
            yield Outcome(name, error=replayed.detail)
            continue
        spans = _spans(by_request.get(name, ()), before, after)
        yield Outcome(name, compare(name, before, after, small=small), spans)


def _spans(labels: Sequence[Label], before: Plan, after: Plan) -> Spans | None:
    if not labels:
        return None
    name = labels[0].request_id
    old = score_spans(labels, {name: before.blocks()})
    new = score_spans(labels, {name: after.blocks()})
    return Spans(old.spans, old.present, new.present)


def all_spans(found: Iterable[Outcome]) -> Spans:
    """The spans of every request together."""
    scored = [outcome.spans for outcome in found if outcome.spans is not None]
    return Spans(
        sum(spans.labelled for spans in scored),
        sum(spans.before for spans in scored),
        sum(spans.after for spans in scored),
    )


def outcome_record(outcome: Outcome) -> dict[str, Any]:
    """One line of `replay --json`."""
    if outcome.comparison is None:
        return {"request_id": outcome.request_id, "error": outcome.error}
    compared = outcome.comparison
    return {
        **asdict(compared),
        "before": compared.before._asdict(),
        "after": compared.after._asdict(),
        "spans": None if outcome.spans is None else asdict(outcome.spans),
        "error": None,
    }


def labels_in(path: Path) -> list[Label]:
    """The labelled spans in a file of JSON lines. Raises RequestError naming the line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path}: {error}; write JSON lines in UTF-8", "labels") from error
    return read_labels(lines)
