"""replay: logged packs again, proved or another way."""

from __future__ import annotations

from typing import Any

import click

from chunkprep_flows.commands.pack import ORDERS, STRATEGIES, choice
from chunkprep_flows.console import print_json, print_records, print_table, talk
from chunkprep_flows.opened import now, opened
from chunkprep_flows.options import command, json_option, option, stacked, store_options
from chunkprep_ingest.errors import RequestError
from chunkprep_ingest.lifecycle import moment
from chunkprep_ingest.model import BOUNDARY_KINDS

PROOF_COLUMNS = ("request_id", "verdict", "detail")

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
    choice("--order", ORDERS, None, "Another order."),
)


@command(
    example="""\
chunkprep replay --since 2026-01-01 --budget 1200 --strategy value_per_token
chunkprep replay --verify"""
)
@option("--since", metavar="TIME", help="Packs from then on.")
@option("--request", "request_id", metavar="ID", help="One pack.")
@option("--verify", is_flag=True, help="Prove that each pack is rebuilt byte for byte.")
@option("--as-now", is_flag=True, help="By what is in force now, not by the facts as logged.")
@option("--small", type=int, default=100, metavar="N", help="Blocks below N tokens count as small.")
@change_options
@store_options
@json_option
@click.pass_context
def replay(
    ctx: click.Context,
    /,
    since: str | None,
    request_id: str | None,
    verify: bool,
    as_now: bool,
    small: int,
    store: str,
    collection: str,
    as_json: bool,
    **changes: Any,
) -> None:
    """Re-run logged packs another way and compare, or prove them unchanged.

    Exit 1 when a pack that should be identical differs, or when there is nothing to replay.
    """
    from chunkprep_packer.replay import Replayer

    wanted = {name: value for name, value in changes.items() if value is not None}
    if verify and (wanted or as_now):
        raise RequestError("--verify takes no change; leave it out to compare", "verify")
    with opened(store) as source:
        replayer = Replayer(source, collection, as_now=now() if as_now else None)
        start = None if since is None else moment(since)
        records = source.packs(collection, since=start, request_id=request_id)
        if verify:
            ctx.exit(show_proofs(replayer.verify(records), as_json=as_json))
        comparisons = list(replayer.compare(records, wanted, small=small))
    ctx.exit(show_comparisons(comparisons, as_json=as_json))


def show_proofs(proofs: Any, *, as_json: bool) -> int:
    """Print each proof; 1 where one differs or there is none."""
    found = [proof._asdict() for proof in proofs]
    print_records(found, PROOF_COLUMNS, as_json=as_json)
    same = sum(proof["verdict"] == "identical" for proof in found)
    talk(f"{same} of {len(found)} packs rebuilt byte for byte")
    return 0 if found and not any(proof["verdict"] == "differs" for proof in found) else 1


def show_comparisons(comparisons: list[Any], *, as_json: bool) -> int:
    """Print each comparison as JSON, or the means before and after; 1 where there is none."""
    from chunkprep_packer.compare import total

    if as_json:
        for comparison in comparisons:
            print_json(comparison)
        return 0 if comparisons else 1
    totals = total(comparisons)
    names = totals.before._fields
    rows = [(name, getattr(totals.before, name), getattr(totals.after, name)) for name in names]
    print_table(("mean per pack", "before", "after"), rows, right=("before", "after"))
    talk(f"{totals.changed} of {totals.requests} packs change")
    return 0 if comparisons else 1
