"""resplit: other chunks from what is stored."""

from __future__ import annotations

from typing import Any

import click

from chunkprep_flows.commands.ingest import show
from chunkprep_flows.console import print_json
from chunkprep_flows.opened import opened
from chunkprep_flows.options import command, json_option, option, store_options


@command(example="chunkprep resplit --cap 300")
@option("--cap", type=int, required=True, metavar="N", help="Most tokens of a block.")
@store_options
@json_option
@click.pass_context
def resplit(ctx: click.Context, /, cap: int, store: str, collection: str, as_json: bool) -> None:
    """Split every document again under another cap, from stored elements."""
    from chunkprep_flows.interrupt import graceful_stop
    from chunkprep_flows.progress import shown_progress
    from chunkprep_flows.resplitting import resplit_collection

    with opened(store) as target, graceful_stop(), shown_progress() as progress:
        report: Any = resplit_collection(target, collection, progress, cap=cap)
    if as_json:
        print_json(report)
    else:
        show(report)
    ctx.exit(1 if report.trouble else 0)
