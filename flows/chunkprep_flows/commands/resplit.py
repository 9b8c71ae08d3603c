"""resplit: other chunks from what is stored."""

from __future__ import annotations

from typing import Any

import click

from chunkprep_flows.commands.ingest import show
from chunkprep_flows.commands.split_options import split_options
from chunkprep_flows.console import print_json
from chunkprep_flows.opened import opened
from chunkprep_flows.options import command, json_option, store_options
from chunkprep_flows.split_settings import SplitSettings


@command(example="chunkprep resplit --cap 300")
@split_options
@store_options
@json_option
@click.pass_context
def resplit(
    ctx: click.Context, /, store: str, collection: str, as_json: bool, **options: Any
) -> None:
    """Split every document again under another cap or other rules, from stored elements."""
    settings = SplitSettings(**options)
    if settings == SplitSettings():
        raise click.UsageError("say what to change, for example --cap 300")
    from chunkprep_flows.interrupt import graceful_stop
    from chunkprep_flows.progress import shown_progress
    from chunkprep_flows.resplitting import resplit_collection

    with opened(store) as target, graceful_stop(), shown_progress() as progress:
        report: Any = resplit_collection(target, collection, progress, split=settings)
    if as_json:
        print_json(report)
    else:
        show(report)
    ctx.exit(1 if report.trouble else 0)
