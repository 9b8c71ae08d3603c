"""replay: logged packs again, proved or another way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkprep_flows.commands.pack import ORDERS, STRATEGIES, choice
from chunkprep_flows.console import print_json, print_records, print_table, talk
from chunkprep_flows.opened import now, opened
from chunkprep_flows.options import command, json_option, option, stacked, store_options
from chunkprep_flows.wording import counted
from chunkprep_ingest.errors import NotFoundError, RequestError
from chunkprep_ingest.lifecycle import moment
from chunkprep_ingest.model import BOUNDARY_KINDS

if TYPE_CHECKING:
    from chunkprep_flows.replaying import Outcome
    from chunkprep_packer import Comparison
    from chunkprep_store import PackRecord

PROOF_COLUMNS = ("request_id", "verdict", "detail")


def switch(name: str, help: str) -> Callable[[Any], Any]:
    """An option that turns something on, or off, or leaves it as logged."""
    return option(f"{name}/--no-{name[2:]}", default=None, help=help)


change_options = stacked(
    option("--budget", type=int, metavar="N", help="Another slot."),
    option("--min-score", type=float, metavar="F", help="Another threshold."),
    choice("--strategy", STRATEGIES, None, "Another fill."),
    option("--mmr", type=float, metavar="LAMBDA", help="Another diversity."),
    option("--mmr-max-similarity", type=float, metavar="F", help="Another similarity limit."),
    choice("--dedupe", ("none", "exact", "near"), None, "Other copies left out."),
    choice("--floor", ("fit", "always", "off"), None, "Another floor."),
    choice("--truncate", ("floor", "any", "never"), None, "Other blocks cut."),
    choice("--cut-at", BOUNDARY_KINDS, None, "Another weakest boundary."),
    switch("--cut-any-kind", "Cut chunks that are not truncatable too, or no longer."),
    choice("--order", ORDERS, None, "Another order."),
    switch("--ordinals", "Number the blocks, or no longer."),
    switch("--partial-note", "End with the line that says what is missing, or no longer."),
)


@command(
    example="""\
chunkprep replay --since 2026-01-01 --budget 1200 --strategy value_per_token
chunkprep replay --budget 800 --labels answers.jsonl
chunkprep replay --verify"""
)
@option("--since", metavar="TIME", help="Packs from then on.")
@option("--request", "request_id", metavar="ID", help="One pack.")
@option("--trace", "trace_id", metavar="ID", help="The packs of one trace (W3C Trace Context).")
@option("--verify", is_flag=True, help="Prove that each pack is rebuilt byte for byte.")
@option("--as-now", is_flag=True, help="By what is in force now, not by the facts as logged.")
@option("--small", type=int, default=100, metavar="N", help="Blocks below N tokens count as small.")
@option(
    "--labels",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help='Answers to look for, as JSON lines: {"request", "document", "quote"}.',
)
@change_options
@store_options
@json_option
@click.pass_context
def replay(
    ctx: click.Context,
    /,
    since: str | None,
    request_id: str | None,
    trace_id: str | None,
    verify: bool,
    as_now: bool,
    small: int,
    labels: Path | None,
    store: str,
    collection: str,
    as_json: bool,
    **changes: Any,
) -> None:
    """Re-run logged packs another way and compare, or prove them unchanged.

    With --labels, say too whether labelled answers are in the context. Exit 1 when a pack that
    should be identical differs or cannot be rebuilt, or when there is nothing to replay.
    """
    from chunkprep_flows.replaying import labels_in, outcomes
    from chunkprep_packer import Replayer
    from chunkprep_packer.logged import packs_called

    wanted = {name: value for name, value in changes.items() if value is not None}
    if verify and typed(ctx, *wanted, "as_now", "labels"):
        raise RequestError("--verify takes no change; leave it out to compare", "verify")
    with opened(store) as source:
        replayer = Replayer(source, collection, as_now=now() if as_now else None)
        start = None if since is None else moment(since)
        records = source.packs(collection, since=start, request_id=request_id)
        if trace_id is not None:
            if request_id is not None:
                raise RequestError("trace: give --request or --trace, not both", "trace")
            records = packs_called(source, collection, trace_id=trace_id, since=start)
        if request_id is not None:
            records = iter(one_logged(records, request_id))
        if verify:
            ctx.exit(show_proofs(replayer.verify(records), as_json=as_json))
        spans = () if labels is None else labels_in(labels)
        found = list(outcomes(replayer.replay(records, wanted), spans, small=small))
    ctx.exit(show_outcomes(found, as_json=as_json))


def one_logged(records: Iterable[PackRecord], request_id: str) -> list[PackRecord]:
    """The pack of this id. Raises NotFoundError where there is none."""
    found = list(records)
    if not found:
        raise NotFoundError(
            f"no pack {request_id!r} is logged in this collection; leave out --request to see all"
        )
    return found


def typed(ctx: click.Context, *names: str) -> bool:
    """Whether any of these options was on the command line: what the environment or a file sets
    for packing is no wish to change a proof.
    """
    source = click.core.ParameterSource.COMMANDLINE
    return any(ctx.get_parameter_source(name) is source for name in names)


def show_proofs(proofs: Any, *, as_json: bool) -> int:
    """Print each proof; 1 where one differs, cannot be rebuilt, or there is none."""
    found = [proof._asdict() for proof in proofs]
    print_records(found, PROOF_COLUMNS, as_json=as_json)
    same = sum(proof["verdict"] == "identical" for proof in found)
    pins = sum(proof["verdict"] == "identical_but_pins" for proof in found)
    gone = sum(proof["verdict"] == "gone" for proof in found)
    apart = f", {pins} but for pinned texts that the log does not hold" if pins else ""
    lost = f", {gone} cannot be rebuilt because chunks of theirs are gone" if gone else ""
    talk(f"{same} of {len(found)} packs rebuilt byte for byte{apart}{lost}")
    return 0 if found and same + pins == len(found) else 1


def show_outcomes(found: list[Outcome], *, as_json: bool) -> int:
    """Print each outcome as JSON, or what changes; 1 where nothing could be replayed."""
    from chunkprep_flows.replaying import outcome_record

    compared = [outcome.comparison for outcome in found if outcome.comparison is not None]
    if as_json:
        for outcome in found:
            print_json(outcome_record(outcome))
        return 0 if compared else 1
    failed = [outcome for outcome in found if outcome.error is not None]
    if failed:
        first = f"{failed[0].request_id}: {failed[0].error}"
        talk(f"{counted(len(failed), 'pack')} of {len(found):,} cannot be replayed so; {first}")
    show_changes(compared)
    show_means(compared, found)
    return 0 if compared else 1


def show_changes(compared: list[Comparison]) -> None:
    """A line for each pack that changes."""
    rows = [
        (c.request_id, c.before.used_tokens, c.after.used_tokens, c.enters, c.leaves)
        for c in compared
        if c.enters or c.leaves or c.reordered or c.before != c.after
    ]
    if rows:
        columns = ("request_id", "used before", "after", "chunks that enter", "chunks that leave")
        print_table(columns, rows, right=columns[1:3])
        click.echo()


def show_means(compared: list[Comparison], found: list[Outcome]) -> None:
    """The means before and after, and the labelled spans that are present."""
    from chunkprep_flows.replaying import all_spans
    from chunkprep_packer import total

    totals = total(compared)
    names = totals.before._fields
    rows: list[tuple[object, ...]] = [
        (name, getattr(totals.before, name), getattr(totals.after, name)) for name in names
    ]
    spans = all_spans(found)
    if spans.labelled:
        shares = (spans.before / spans.labelled, spans.after / spans.labelled)
        rows.append((f"share of {spans.labelled} labelled spans", *shares))
    print_table(("mean per pack", "before", "after"), rows, right=("before", "after"))
    talk(f"{totals.changed} of {totals.requests} packs change")
