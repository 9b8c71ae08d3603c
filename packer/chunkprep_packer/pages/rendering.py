"""Templates filled with facts, and what a browser may do with the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from chunkprep_packer.pages import plots

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


class Links(Protocol):
    """Where a document or a logged pack is shown; None where it is not."""

    def document(self, key: str, version: int | None = None) -> str | None:
        """The address of a document, of one of its versions where that is told apart."""

    def pack(self, request_id: str) -> str | None:
        """The address of a logged pack."""


class ServedLinks(NamedTuple):
    """Addresses below `root` within one collection."""

    root: str
    collection: str

    def document(self, key: str, version: int | None = None) -> str:
        """The document's page."""
        query = {"key": key} | ({} if version is None else {"version": str(version)})
        return f"{self._base}/document?{urlencode(query)}"

    def pack(self, request_id: str) -> str:
        """The pack's page."""
        return f"{self._base}/pack/{quote(request_id, safe='')}"

    @property
    def _base(self) -> str:
        return f"{self.root}/{quote(self.collection, safe='')}"


def page(template: str, facts: Mapping[str, Any], *, links: Links, tab: str, root: str) -> str:
    """A served page; every value in it is escaped."""
    return _filled(
        template, facts, layout="base.html", headings=1, ns="", links=links, tab=tab, root=root
    )


def part(template: str, facts: Mapping[str, Any], *, links: Links, ns: str) -> Markup:
    """The same page as a part of a file. `ns`, the path of its facts, keeps its anchors apart."""
    return Markup(_filled(template, facts, layout="part.html", headings=2, ns=ns, links=links))  # noqa: S704


def document_of(template: str, values: Mapping[str, Any]) -> str:
    """A template that is a whole document of its own."""
    return _environment().get_template(template).render(values)


def _filled(template: str, facts: Mapping[str, Any], *, headings: int, **values: Any) -> str:
    tags = {f"h{n}": f"h{n + headings - 1}" for n in (1, 2, 3)}
    served = values["layout"] == "base.html"
    return document_of(template, {**facts, **values, **tags, "served": served})


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
    environment.filters.update(shown=shown, coded=coded, quoted=lambda text: quote(text, safe=""))
    environment.globals.update(bars=plots.bars, by_day=plots.by_day)
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
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)


def coded(text: str) -> Markup:
    """Escaped text, with what stands between back-ticks as code: commands in advice."""
    parts = [escape(part) for part in text.split("`")]
    if len(parts) % 2 == 0:  # one of them has no partner
        return escape(text)
    tagged = (Markup("<code>{}</code>").format(p) if n % 2 else p for n, p in enumerate(parts))
    return Markup("").join(tagged)
