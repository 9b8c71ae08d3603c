"""Templates filled with facts, and what a browser may do with the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""No script at all, no picture, and no style but the one served beside the page."""

_PACKAGE = "chunkprep_packer.pages"


def page(template: str, facts: Mapping[str, Any]) -> str:
    """A page; every value in it is escaped."""
    return _environment().get_template(template).render(facts)


@cache
def stylesheet() -> str:
    """The one stylesheet, light and dark."""
    return (files(_PACKAGE) / "templates" / "pages.css").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = shown
    return environment


def shown(value: object) -> str:
    """A cell: a dash for None, groups of three for numbers."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)
