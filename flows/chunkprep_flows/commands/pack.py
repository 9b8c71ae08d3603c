"""search, pack, slot: from a question to a context."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from chunkprep_flows.console import print_json, print_records, print_table, talk
from chunkprep_flows.opened import at, now, opened
from chunkprep_flows.options import (
    F,
    as_of_option,
    command,
    json_option,
    option,
    stacked,
    store_options,
)
from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.model import BOUNDARY_KINDS

if TYPE_CHECKING:
    from chunkprep_packer import Packer, PackResult

SEARCH_COLUMNS = ("score", "document", "version", "status", "heading_path", "chunk_id")
STRATEGIES = ("ranked", "stop_at_first_miss", "value_per_token")
ORDERS = ("rank", "best_last", "edges", "document", "chronological")


@command(example='chunkprep search "how long does a refund take" --top 10')
@click.argument("query")
@option("--top", type=click.IntRange(1), default=40, metavar="N", help="How many candidates.")
@option("--any-status", is_flag=True, help="Also what is out of force, as a lagging index would.")
@as_of_option
@store_options
@json_option
def search(
    query: str,
    top: int,
    any_status: bool,
    as_of: str | None,
    store: str,
    collection: str,
    as_json: bool,
) -> None:
    """Find candidates by the database's own full-text search.

    A score is a share of the best hit's, 0 to 1: it compares within one answer only.
    """
    from chunkprep_packer.search_scores import scaled
    from chunkprep_store.search import query_words

    if not query_words(query):
        raise RequestError(f"the query {query!r} holds no word to look for", "query")
    with opened(store) as source:
        hits = source.search(collection, query, top=top, at=at(as_of), any_status=any_status)
    if not hits:
        talk(f"nothing found: no chunk{'' if any_status else ' in force'} holds one of these words")
    found = (
        {**hit._asdict(), "heading_path": orjson.loads(hit.heading_path)} for hit in scaled(hits)
    )
    print_records(found, SEARCH_COLUMNS, as_json=as_json, right=("score", "version"))


def choice(name: str, values: Iterable[str], default: str | None, text: str) -> Callable[[F], F]:
    """An option with a fixed set of values."""
    return option(name, type=click.Choice(list(values)), default=default, help=text)


def several(name: str, metavar: str, text: str) -> Callable[[F], F]:
    """An option that may be repeated."""
    return option(name, multiple=True, metavar=metavar, help=text)


pack_options = stacked(
    option("--min-score", type=float, metavar="F", help="Leave out what scores below."),
    choice("--strategy", STRATEGIES, "ranked", "How the slot is filled."),
    option("--mmr", type=float, metavar="LAMBDA", help="Diversity: 1 is relevance alone."),
    option("--mmr-max-similarity", type=float, default=0.95, metavar="F",
           help="Cosine to a chosen chunk at which a candidate is left out (with --mmr)."),
    choice("--dedupe", ("none", "exact", "near"), "exact", "Which copies are left out."),
    several("--pin", "CHUNK_OR_DOC", "Goes in first, whatever its score; repeatable, in order."),
    choice("--floor", ("fit", "always", "off"), "fit", "What the best eligible candidate gets."),
    choice("--truncate", ("floor", "any", "never"), "floor", "Which blocks may be cut."),
    choice("--cut-at", BOUNDARY_KINDS, "code_block", "Weakest boundary at which a cut may fall."),
    option("--cut-any-kind", is_flag=True, help="Cut tables and code too."),
    choice("--order", ORDERS, "rank", "In what order the blocks stand."),
    choice("--on-superseded", ("drop", "forward"), "drop", "Forward: take the successor chunk."),
    as_of_option,
    several("--source", "GLOB", "Only chunks whose source or document matches; repeatable."),
    several("--tag", "TAG", "Only chunks with one of these tags; repeatable."),
    several("--access", "LABEL", "Labels that the reader has; repeatable."),
    option("--min-authority", type=int, metavar="N", help="Only documents of this authority."),
    option("--effective-after", metavar="TIME", help="Only what came into force after."),
    option("--ordinals", is_flag=True, help="Number the blocks in their headers."),
    option("--partial-note", is_flag=True, help="Close with a line that more was found."),
    option("--encoding", metavar="NAME", help="Prices of this encoding (default: the store's)."),
)  # fmt: skip


@command(
    example="""\
chunkprep search "refund window" --json |
    chunkprep pack --budget 1600 --min-score 0.2 --candidates -"""
)
@option("--budget", type=int, required=True, metavar="N", help="The slot, in tokens.")
@option(
    "--candidates",
    type=click.File("rb"),
    required=True,
    metavar="FILE|-",
    help='JSON lines {"chunk_id", "score"[, "vector"]}, or a JSON list of them.',
)
@option("--query-vector", type=click.File("rb"), metavar="FILE", help="A JSON list of numbers.")
@option(
    "--pin-text",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="A text that is not in the store, put in first; repeatable.",
)
@option("--no-log", is_flag=True, help="Leave no row in the pack log.")
@pack_options
@store_options
@json_option
def pack(
    candidates: Any,
    query_vector: Any,
    pin_text: tuple[Path, ...],
    no_log: bool,
    store: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Pack candidates into a context of at most N tokens.

    The context goes to stdout, the decision on each candidate to stderr.
    """
    from chunkprep_packer import Packer, PackRequest, PinText

    request = PackRequest(
        **options,
        log=not no_log,
        candidates=tuple(read_candidates(candidates)),
        query_vector=None if query_vector is None else read_vector(query_vector),
        pin_text=tuple(PinText(p.read_text(encoding="utf-8-sig"), p.name) for p in pin_text),
    )
    with Packer.open(store) as packer:
        result = packer.pack(request)
        names = {} if as_json else chunk_names(packer, result)
    if as_json:
        print_json(result)
        return
    click.echo(result.text.encode(), nl=False)  # its bytes, whatever the terminal takes
    show_decisions(result, names)


def read_vector(file: Any) -> Any:
    """A JSON list of numbers. Raises RequestError."""
    data = file.read().removeprefix(codecs.BOM_UTF8)
    return _parsed(data, "query_vector", "write a JSON list of numbers")


def read_candidates(file: Any) -> list[Any]:
    """Candidates as JSON lines or as one JSON list. Raises RequestError naming the line."""
    data = file.read().removeprefix(codecs.BOM_UTF8)
    if data.lstrip()[:1] == b"[":
        return _parsed(data, "candidates")  # type: ignore[no-any-return]
    lines = enumerate(data.splitlines(), start=1)
    return [_parsed(line, f"candidates, line {n}") for n, line in lines if line.strip()]


LINES = 'write JSON lines such as {"chunk_id": "…", "score": 0.9}'


def _parsed(data: bytes, where: str, remedy: str = LINES) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise RequestError(f"{where}: {error}; {remedy}", where.partition(",")[0]) from error


def chunk_names(packer: Packer, result: PackResult) -> dict[str, str]:
    """Document, version and ordinal of every candidate that is in the store."""
    ids = [decision.chunk_id for decision in result.decisions]
    rows = packer.store.lookup(result.collection, ids, at=now()).rows
    return {row.chunk_id: f"{row.document} v{row.version} #{row.ordinal}" for row in rows}


def show_decisions(result: PackResult, names: Mapping[str, str], *, err: bool = True) -> None:
    """The decision table, the figures and the warnings, on stderr unless told otherwise."""
    rows = [
        (
            d.rank,
            d.score,
            d.tokens,
            d.outcome,
            d.reason or ("forwarded" if d.forwarded_from else None),
            names.get(d.chunk_id, d.chunk_id),
        )
        for d in result.decisions
    ]
    columns = ("rank", "score", "tokens", "outcome", "reason", "chunk")
    print_table(columns, rows, right=("rank", "score", "tokens"), err=err)
    log = result.log
    click.echo(
        f"{log.used_tokens} of {log.slot} tokens ({log.fill:.0%}), {log.packed} of {log.offered} "
        f"candidates, {log.skipped_for_size} skipped for size; best "
        f"eligible candidate: {log.rank1}",
        err=err,
    )
    for warning in result.warnings:
        click.echo(f"warning: {warning}", err=err)


TEXT_OR_COUNT = "N|TEXT|@FILE"


def term(name: str, text: str, **attrs: Any) -> Callable[[F], F]:
    """A term of the slot: tokens, a text to count, or a file that holds one."""
    return option(name, metavar=TEXT_OR_COUNT, help=text, **attrs)


@command(example="chunkprep slot --window 128000 --reserved-output 4000 --system @system.txt")
@option("--window", type=int, required=True, metavar="N", help="The model's context window.")
@option("--reserved-output", type=int, default=0, metavar="N", help="Kept for the answer.")
@term("--system", "The system prompt.", default="0")
@term("--tools", "Tool definitions.", default="0")
@term("--history", "Earlier messages; repeatable, one for each.", multiple=True)
@term("--question", "The question.", default="0")
@term("--pinned", "Texts that go in besides.", default="0")
@option("--formatting-overhead", type=int, default=0, metavar="N", help="Of your own template.")
@option("--margin", type=int, default=0, metavar="N", help="A reserve.")
@option("--cap", type=int, metavar="N", help="At most so many for retrieved text.")
@option("--per-message", type=int, default=0, metavar="N", help="Chat framing of each message.")
@option("--per-reply", type=int, default=0, metavar="N", help="Chat framing of the reply.")
@option("--encoding", metavar="NAME", default="o200k_base", help="The tokenizer for texts.")
@json_option
def slot(encoding: str, as_json: bool, **given: Any) -> None:
    """Show how many tokens are left for retrieved text, with every term."""
    from chunkprep_packer.slot import slot_terms

    named = ("system", "tools", "question", "pinned")
    terms: dict[str, Any] = {**given, **{name: _term(given[name]) for name in named}}
    terms["history"] = [_term(message) for message in given["history"]]
    if any(isinstance(part, str) for part in [*terms["history"], *(terms[n] for n in named)]):
        from chunkprep_ingest.tokens import counter_for

        terms["counter"] = counter_for(encoding)
    found = slot_terms(**terms)
    if as_json:
        print_json({**found._asdict(), "slot": found.slot})
        return
    subtracted = [(name, -getattr(found, name)) for name in found._fields[1:10]]
    rows = [("window", found.window), *subtracted, ("left", found.left), ("cap", found.cap)]
    print_table(("term", "tokens"), [*rows, ("slot", found.slot)], right=("tokens",))


def _term(value: str) -> int | str:
    """An integer for digits, a file's text for @FILE, else the text itself."""
    if value.startswith("@"):
        try:
            return Path(value[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise click.UsageError(f"{value}: {error}") from error
    return int(value) if value.lstrip("-").isdigit() else value
