"""The options that say how to split."""

from __future__ import annotations

from collections.abc import Sequence

import click

from chunkprep_flows.options import option, stacked
from chunkprep_ingest.policy import HEADER_FIELDS, SHARINGS, WIDE_ROWS


def header_fields(
    ctx: click.Context, parameter: click.Parameter, given: Sequence[str]
) -> tuple[str, ...] | None:
    """None where the option was not given, () for "none"."""
    del ctx, parameter
    return tuple(name for name in given if name != "none") if given else None


split_options = stacked(
    option("--cap", type=int, metavar="N", help="Most tokens of a block (new collection: 512)."),
    option("--target", type=int, metavar="N", help="Tokens to aim for at most (the cap)."),
    option("--minimum", type=int, metavar="N",
           help="Join a shorter run of text to its neighbour (an eighth of the cap)."),
    option("--span-sections/--no-span-sections", default=None,
           help="Whether a chunk may hold several sibling sections (yes)."),
    option("--header-share", type=float, metavar="F",
           help="Part of the cap that a header may take (0.25)."),
    option("--header-field", "header_fields", multiple=True, callback=header_fields,
           type=click.Choice([*HEADER_FIELDS, "none"]),
           help="Show it in headers, besides title and headings (none); repeatable."),
    option("--tables", type=click.Choice(SHARINGS),
           help="Whether tables share chunks with the text around them (mixed)."),
    option("--code", type=click.Choice(SHARINGS), help="The same for code (mixed)."),
    option("--repeat-table-header/--no-repeat-table-header", default=None,
           help="Repeat a table's header in each of its parts (yes)."),
    option("--reopen-code-fences/--no-reopen-code-fences", default=None,
           help="Close and open the fence of code that is parted (yes)."),
    option("--wide-rows", type=click.Choice(WIDE_ROWS),
           help="What a row over the cap becomes: a record, or parts between cells (records)."),
)  # fmt: skip
"""What `ingest`, `schedule` and `resplit` have in common."""
