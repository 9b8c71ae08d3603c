"""changes: the feed that keeps a vector index in step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from chunkprep_flows.console import print_json, talk
from chunkprep_flows.interrupt import graceful_stop, stop_asked, wait_for_stop
from chunkprep_flows.opened import opened
from chunkprep_flows.options import command, option, store_options

if TYPE_CHECKING:
    from chunkprep_store import Change, Store

PAGE = 1000
POLL_SECONDS = 1.0


@command(example="chunkprep changes --since 0 --limit 100")
@option("--since", type=click.IntRange(0), default=0, metavar="CURSOR", help="After this entry.")
@option("--limit", type=click.IntRange(1), metavar="N", help="At most so many entries.")
@option("--follow", is_flag=True, help="Wait for more until SIGINT or SIGTERM.")
@option("--json", "as_json", is_flag=True, help="Accepted for symmetry: it is always JSON lines.")
@store_options
def changes(
    since: int, limit: int | None, follow: bool, as_json: bool, store: str, collection: str
) -> None:
    """Print upserts and removals in commit order, as JSON lines.

    The cursor to go on from, with --since, is told on stderr at the end.
    """
    from chunkprep_packer.stored_json import change_record

    del as_json
    with opened(store) as source, graceful_stop("the entry at hand"):
        for change in entries(source, collection, since, limit, follow):
            print_json(change_record(change))
            since = change.cursor
    talk(f"cursor: {since}")


def entries(
    store: Store, collection: str, since: int, limit: int | None, follow: bool
) -> Iterator[Change]:
    """At most `limit` entries after a cursor; with `follow` all to come, until a stop is asked
    for.
    """
    left = limit
    while not stop_asked() and left != 0:
        page = store.changes(collection, since, PAGE if left is None else min(left, PAGE))
        for change in page:
            yield change
            since = change.cursor
            if stop_asked():
                return
        left = None if left is None else left - len(page)
        if not page and (not follow or wait_for_stop(POLL_SECONDS)):
            return
