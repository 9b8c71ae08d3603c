"""demo: the main job on the sample documents."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import which

import click

from chunkprep_flows.console import talk
from chunkprep_flows.options import command, option

NAME = "chunkprep"


@command(example="chunkprep demo --dir tried")
@option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("demo"),
    help="Where samples and store go; made again each time.",
)
@click.pass_context
def demo(ctx: click.Context, folder: Path) -> None:
    """Ingest sample documents, search, pack, change a policy, ingest again, audit."""
    from chunkprep_flows.samples import fresh_copy

    samples = fresh_copy(folder)
    from chunkprep_flows.prefect_session import prefect_session

    with prefect_session(verbose=ctx.obj["verbose"], say=talk) as session:
        from chunkprep_flows.demo import run_demo

        times, code = run_demo(folder, samples)
    engine = times.flows - times.own
    server = "its private server's start" if session.private else "reaching its API"
    click.echo(
        f"\nPrefect's time: {session.import_seconds:.1f} s import, {session.server_seconds:.1f} s "
        f"{server}, {engine:.1f} s around two flow runs; chunkprep's own: {times.own:.1f} s"
    )
    click.echo(f"The store is {folder / 'chunkprep.db'}; look into it with for example")
    click.echo(f"  {program()} docs --store sqlite:///{(folder / 'chunkprep.db').as_posix()}")
    ctx.exit(code)


def program() -> str:
    """How to call this program: by name where the PATH has it (in no fresh clone), else by path."""
    called = Path(sys.argv[0])
    return str(called) if called.name == NAME and which(NAME) is None else NAME
