"""Titled tables as one HTML page that needs nothing else, not even an extra: no script, no link."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from chunkprep_flows.console import shown
from chunkprep_flows.report_sections import Cell, Section

_STYLE = """\
:root { color-scheme: light dark; --ink: #1c2430; --paper: #ffffff; --soft: #5a6675;
  --line: #d9dee5; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --paper: #14181e; --soft: #9aa6b5;
  --line: #2f3742; } }
body { margin: 2rem auto; padding: 0 1rem; max-width: 70rem; color: var(--ink);
  background: var(--paper); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 2rem 0 .25rem; }
p { margin: .25rem 0 .75rem; color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .75rem .2rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-weight: 600; white-space: nowrap; }
.number { text-align: right; white-space: nowrap; }"""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Content security policy: even markup that escaping had missed could load and run nothing."""


def page(title: str, lead: str, found: Iterable[Section]) -> str:
    """The whole page; every text in it is escaped."""
    body = "\n".join(_section(section) for section in found)
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{_STYLE}
</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>{escape(lead)}</p>
{body}
</body>
</html>
"""


def _section(section: Section) -> str:
    parts = ["<section>", f"<h2>{escape(section.title)}</h2>", f"<p>{escape(section.lead)}</p>"]
    if section.rows:
        parts.append(_table(section))
    return "\n".join([*parts, "</section>"])


def _table(section: Section) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in section.columns)
    lines = ["<tr>" + "".join(map(_cell, row)) + "</tr>" for row in section.rows]
    return "\n".join(
        ['<div class="wide"><table>', f"<thead><tr>{head}</tr></thead>", "<tbody>", *lines,
         "</tbody></table></div>"]
    )  # fmt: skip


def _cell(value: Cell) -> str:
    kind = ' class="number"' if isinstance(value, int | float) else ""
    return f"<td{kind}>{escape(shown(value))}</td>"
