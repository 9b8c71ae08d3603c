"""schedule: the ingest flow as a Prefect deployment."""

from __future__ import annotations

from typing import Any

import click

from chunkprep_flows.commands.ingest import source_options
from chunkprep_flows.console import talk
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.options import command, option, store_options


@command(example="chunkprep schedule docs/ --every 3600 --sync")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@option("--cron", metavar="EXPR", help='When, as a cron expression: "0 3 * * *".')
@option("--every", type=click.IntRange(1), metavar="SECONDS", help="Or how often.")
@option("--name", default="ingest", metavar="NAME", help="The deployment's name.")
@source_options
@store_options
@click.pass_context
def schedule(
    ctx: click.Context,
    /,
    sources: tuple[str, ...],
    cron: str | None,
    every: int | None,
    name: str,
    **options: Any,
) -> None:
    """Serve the ingest flow on a schedule until interrupted.

    Runs against the Prefect API that is configured (PREFECT_API_URL), else against a private one
    that ends with this command. The schedule stays active when this command stops: a run that is
    due then waits for the next start.
    """
    if (cron is None) == (every is None):
        raise click.UsageError("give either --cron or --every")
    settings = IngestSettings(sources=sources, **options).absolute()
    from chunkprep_flows.prefect_session import prefect_session

    verbose = ctx.obj["verbose"]
    with prefect_session(verbose=verbose, say=talk, schedules=True) as session:
        from chunkprep_flows.scheduling import serve_ingest

        talk(f"serving deployment ingest-documents/{name} at {session.api}; Ctrl-C ends it")
        serve_ingest(settings, name=name, cron=cron, interval=every)
