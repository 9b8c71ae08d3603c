"""recount, resplit: other prices, other chunks, from what is stored."""

from __future__ import annotations

from typing import Any

import click

from chunkprep_flows.commands.ingest import show
from chunkprep_flows.console import print_json, talk
from chunkprep_flows.opened import opened
from chunkprep_flows.options import command, json_option, option, store_options


@command(example="chunkprep recount --encoding cl100k_base")
@option("--encoding", metavar="NAME", help="A further tokenizer.")
@option("--template", metavar="NAME|FILE", help="Another template.")
@store_options
@json_option
def recount(
    encoding: str | None, template: str | None, store: str, collection: str, as_json: bool
) -> None:
    """Price the stored chunks for a further encoding or template; ids and texts stay."""
    if encoding is None and template is None:
        raise click.UsageError("give --encoding, --template or both")
    from chunkprep_flows.repricing import recount_collection

    with opened(store) as target:
        counted = recount_collection(target, collection, encoding=encoding, template=template)
    if as_json:
        print_json(counted)
    else:
        talk(f"{counted['chunks']} chunks priced in {counted['encoding']}")


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
        report: Any = resplit_collection(target, collection, cap, progress)
    if as_json:
        print_json(report)
    else:
        show(report)
    ctx.exit(1 if report.trouble else 0)
