"""recount: prices in a further encoding, or under another template."""

from __future__ import annotations

from dataclasses import asdict

import click

from chunkprep_flows.commands.ingest import show
from chunkprep_flows.console import print_json, talk
from chunkprep_flows.opened import opened
from chunkprep_flows.options import command, json_option, option, store_options


@command(example="chunkprep recount --encoding cl100k_base")
@option("--encoding", metavar="NAME", help="A tiktoken encoding, or a tokenizer.json's path.")
@option("--template", metavar="NAME|FILE", help="Another template: its headers need a re-split.")
@store_options
@json_option
@click.pass_context
def recount(
    ctx: click.Context,
    /,
    encoding: str | None,
    template: str | None,
    store: str,
    collection: str,
    as_json: bool,
) -> None:
    """Price stored chunks in a further encoding; ids and texts stay, no file is read.

    Another template alters every header, so that chunks are split again from stored elements.
    """
    if (encoding is None) == (template is None):
        raise click.UsageError("give either --encoding or --template")
    from chunkprep_flows.interrupt import graceful_stop
    from chunkprep_flows.progress import shown_progress

    with opened(store) as target, graceful_stop("the chunks at hand"), shown_progress() as progress:
        if template is not None:
            from chunkprep_flows.recipe import named_template
            from chunkprep_flows.resplitting import resplit_collection

            talk("another template alters headers: splitting again from stored elements")
            made = named_template(template)
            report = resplit_collection(target, collection, progress, template=made)
            print_json(report) if as_json else show(report)
            ctx.exit(1 if report.trouble else 0)
        from chunkprep_flows.recounting import recount_collection

        assert encoding is not None
        counted = recount_collection(target, collection, encoding)
    if as_json:
        print_json(asdict(counted))
    else:
        stopped = "; stopped, run it again to go on" if counted.stopped else ""
        talk(f"{counted.headline}, in {counted.seconds:.1f} s{stopped}")
    ctx.exit(1 if counted.stopped else 0)
