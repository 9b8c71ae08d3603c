"""changes: the feed that keeps a vector index in step."""

from __future__ import annotations

import time

import click

from chunkprep_flows.console import print_json
from chunkprep_flows.interrupt import graceful_stop, stop_asked
from chunkprep_flows.opened import opened
from chunkprep_flows.options import command, option, store_options
from chunkprep_flows.records import change_record

PAGE = 1000
POLL_SECONDS = 1.0


@command(example="chunkprep changes --since 0 --limit 100")
@option("--since", type=click.IntRange(0), default=0, metavar="CURSOR", help="After this entry.")
@option("--limit", type=click.IntRange(1), metavar="N", help="At most so many entries.")
@option("--follow", is_flag=True, help="Wait for more until interrupted.")
@option("--json", "as_json", is_flag=True, help="Accepted for symmetry: it is always JSON lines.")
@store_options
def changes(
    since: int, limit: int | None, follow: bool, as_json: bool, store: str, collection: str
) -> None:
    """Print upserts and removals in commit order, as JSON lines."""
    del as_json
    left = limit
    with graceful_stop(), opened(store) as source:
        while not stop_asked() and left != 0:
            page = source.changes(collection, since, PAGE if left is None else min(left, PAGE))
            for change in page:
                print_json(change_record(change))
                since = change.cursor
            left = None if left is None else left - len(page)
            if not page and not follow:
                return
            if not page:
                time.sleep(POLL_SECONDS)
