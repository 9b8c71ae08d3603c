"""status: how fresh each collection is, and what to do next."""

from __future__ import annotations

import re

import click

from chunkprep_flows.console import print_records, talk
from chunkprep_flows.opened import now, opened
from chunkprep_flows.options import command, json_option, name_given, option, store_option

COLUMNS = (
    "collection", "place", "documents", "failing", "whole", "whole_hours", "last", "last_ended",
    "remedy",
)  # fmt: skip
NUMBERS = ("documents", "failing", "whole_hours")
_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_AGE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)([dhms])")


def age_given(value: str) -> int:
    """An age in microseconds, of text such as 26h or 1.5d."""
    found = _AGE.fullmatch(value.strip())
    if found is None:
        raise click.BadParameter(
            f"{value!r} is no age; write a number and d, h, m or s, such as 26h"
        )
    return round(float(found[1]) * _SECONDS[found[2]] * 1_000_000)


@command(example="chunkprep status --max-age 26h")
@option(
    "--max-age",
    type=age_given,
    metavar="AGE",
    help="Exit 1 if a source was last ingested whole longer ago: 26h, 2d, 90m, 30s.",
)
@store_option
@option(
    "--collection", type=name_given, metavar="NAME", help="Only this one (default: all there are)."
)
@json_option
@click.pass_context
def status(
    ctx: click.Context, max_age: int | None, store: str, collection: str | None, as_json: bool
) -> None:
    """Show how fresh each collection is, by source, what fails, and what to do next.

    A source is the folder or URL that documents come from. It is ingested whole by a run that lists
    it to its end, reads something of it, and leaves out nothing that the collection has from there.
    """
    from chunkprep_flows.status import gather, last_ingest, source_rows, status_record, too_old

    with opened(store) as source:
        found = gather(source, collection, now())
    records = [status_record(one) for one in found]
    if as_json:
        print_records(records, (), as_json=True)
    elif records:
        rows = [row for record in records for row in source_rows(record)]
        print_records(rows, COLUMNS, as_json=False, right=NUMBERS)
    else:
        talk("there is no collection yet: ingest something first")
    for line in filter(None, map(last_ingest, records)):
        talk(line)
    if max_age is None:
        return
    late = too_old(found, max_age) if found else ["no collection is there"]
    if late:
        told = " ".join("; ".join(late).split())
        talk(f"too old: {told}; ingest each again, whole, or withdraw its documents")
        ctx.exit(1)
