"""What a deck's own XML says: the texts of each slide, its charts, diagrams and notes."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from chunkprep_ingest.readers.package import Package
from chunkprep_ingest.readers.tables import markdown_table

MAIN = "ppt/presentation.xml"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BODY = frozenset({None, "obj", "body"})


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide: its part, the texts of its paragraphs and diagrams, charts as tables, notes."""

    part: str
    texts: tuple[str, ...]
    charts: tuple[str, ...]
    notes: tuple[str, ...]


def slides(package: Package) -> list[Slide]:
    """The slides in the order in which they are shown."""
    tree = package.tree(MAIN)
    if tree is None:
        return []
    targets = {key: target for key, _, target in _relations(package, MAIN)}
    parts = [targets.get(node.get(_RELATION, "")) for node in tree.iter(_P + "sldId")]
    return [_slide(package, part) for part in parts if part in package.parts and part]


def words(deck: list[Slide]) -> str:
    """A dumb extraction: every text of every slide."""
    return "\n".join(text for slide in deck for text in (*slide.texts, *slide.charts, *slide.notes))


def mark_bullets(package: Package, deck: list[Slide]) -> None:
    """Say on each paragraph of a list placeholder that it is one: unstructured looks there only."""
    for slide in deck:
        tree = package.tree(slide.part)
        if tree is None:
            continue
        for shape in tree.iter(_P + "sp"):
            placeholder = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
            paragraphs = [p for p in shape.iter(_A + "p") if _text(p).strip()]
            if placeholder is None or placeholder.get("type") not in _BODY:
                continue
            for paragraph in paragraphs if len(paragraphs) > 1 else ():
                _mark_bullet(paragraph)
        package.put(slide.part, tree)


def _mark_bullet(paragraph: etree._Element) -> None:
    properties = paragraph.find(_A + "pPr")
    if properties is None:
        properties = etree.Element(_A + "pPr")
        paragraph.insert(0, properties)
    if not any(properties.find(_A + tag) is not None for tag in ("buNone", "buChar", "buAutoNum")):
        etree.SubElement(properties, _A + "buChar").set("char", "\u2022")


def _slide(package: Package, part: str) -> Slide:
    texts = list(_paragraphs(package.tree(part)))
    charts: list[str] = []
    notes: list[str] = []
    for _, kind, target in _relations(package, part):
        tree = package.tree(target)
        if tree is None:
            continue
        if kind == "diagramData":
            texts.extend(_paragraphs(tree))
        elif kind == "chart":
            texts.extend(_paragraphs(tree))
            charts.extend(filter(None, [_chart(tree)]))
        elif kind == "notesSlide":
            notes.extend(_notes(tree))
    return Slide(part, tuple(texts), tuple(charts), tuple(notes))


def _paragraphs(tree: etree._Element | None) -> Iterator[str]:
    if tree is None:
        return
    etree.strip_elements(tree, _MC + "Fallback", with_tail=False)
    for paragraph in tree.iter(_A + "p"):
        text = _text(paragraph).strip()
        if text:
            yield text


def _text(paragraph: etree._Element) -> str:
    """The text of a paragraph; fields such as the slide's number are left to the program."""
    return "".join(
        node.text or "" if node.tag == _A + "t" else "\n"
        for node in paragraph.iter(_A + "t", _A + "br")
        if next(node.iterancestors(_A + "fld"), None) is None
    )


def _notes(tree: etree._Element) -> Iterator[str]:
    for shape in tree.iter(_P + "sp"):
        placeholder = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
        if placeholder is not None and placeholder.get("type") == "body":
            yield from _paragraphs(shape)


def _chart(tree: etree._Element) -> str:
    """A chart's numbers: one row a category, one column a series."""
    header = [""]
    columns: list[dict[int, str]] = []
    labels: dict[int, str] = {}
    for series in tree.iter(_C + "ser"):
        header.append(" ".join(v.text or "" for v in series.iterfind(f"{_C}tx//{_C}v")))
        labels |= _points(series, "cat", "xVal")
        columns.append(_points(series, "val", "yVal"))
    places = sorted(labels.keys() | {place for column in columns for place in column})
    rows = [
        [labels.get(place, ""), *(column.get(place, "") for column in columns)] for place in places
    ]
    return markdown_table([header, *rows]) if rows else ""


def _points(series: etree._Element, *tags: str) -> dict[int, str]:
    points: dict[int, str] = {}
    for tag in tags:
        for point in series.iterfind(f"{_C}{tag}//{_C}pt"):
            value = point.find(_C + "v")
            if value is not None:
                points[int(point.get("idx", "0"))] = value.text or ""
    return points


def _relations(package: Package, part: str) -> list[tuple[str, str, str]]:
    """Id, kind and target part of each relation of a part."""
    folder, _, file = part.rpartition("/")
    tree = package.tree(f"{folder}/_rels/{file}.rels")
    found = []
    for node in () if tree is None else tree:
        target = node.get("Target", "")
        path = target[1:] if target.startswith("/") else posixpath.join(folder, target)
        kind = node.get("Type", "").rpartition("/")[2]
        found.append((node.get("Id", ""), kind, posixpath.normpath(path)))
    return found
