"""prune: remove what nobody needs any more."""

from __future__ import annotations

import click

from chunkprep_flows.console import print_json, talk
from chunkprep_flows.opened import opened
from chunkprep_flows.options import command, json_option, option, store_options


@command(example="chunkprep prune --older-than 365 --packs 90")
@option(
    "--older-than",
    type=click.IntRange(0),
    required=True,
    metavar="DAYS",
    help="Versions that went out of force before so many days.",
)
@option("--packs", type=click.IntRange(0), metavar="DAYS", help="Also pack logs as old as that.")
@option("--even-if-logged", is_flag=True, help="Also versions that logged packs still need.")
@option("--dry-run", is_flag=True, help="Count what would go, and change nothing.")
@store_options
@json_option
@click.pass_context
def prune(
    ctx: click.Context,
    /,
    older_than: int,
    packs: int | None,
    even_if_logged: bool,
    dry_run: bool,
    store: str,
    collection: str,
    as_json: bool,
) -> None:
    """Remove superseded and withdrawn versions and old pack logs."""
    from chunkprep_flows.interrupt import graceful_stop
    from chunkprep_flows.pruning import prune_collection

    with opened(store) as target, graceful_stop("the versions at hand"):
        removed = prune_collection(
            target,
            collection,
            older_than=older_than,
            packs=packs,
            even_if_logged=even_if_logged,
            dry_run=dry_run,
        )
    if as_json:
        print_json(removed)
    else:
        talk(f"{removed.headline}; {removed.rest}")
    ctx.exit(1 if removed.stopped else 0)
