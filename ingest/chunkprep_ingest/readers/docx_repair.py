"""Word's XML made plain: every text that a reader of the document sees becomes a paragraph's run.

Tracked insertions, content controls, fields and smart tags are unwrapped, deleted text goes, text
boxes become paragraphs after the one they hang on, formulas and ruby become text, foot- and
endnotes stand at the end. Empty paragraphs go: a hundred thousand of them take minutes otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from chunkprep_ingest.readers.package import Package

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"

_PARTS = r"word/(?:document|(?:header|footer)\d*)\.xml"
_NOTES = {"word/footnotes.xml": "footnote", "word/endnotes.xml": "endnote"}
_WRAPPERS = tuple(
    _W + tag
    for tag in ("ins", "moveTo", "smartTag", "customXml", "fldSimple", "dir", "bdo", "sdtContent")
)
_GONE = (
    *(_W + tag for tag in ("del", "moveFrom", "delText", "delInstrText", "sdtPr", "sdtEndPr")),
    *(_W + tag for tag in ("customXmlPr", "smartTagPr", "rt")),
    _MC + "Fallback",
)
_CONTENT = frozenset(
    _W + tag
    for tag in (
        "t",
        "tab",
        "br",
        "cr",
        "drawing",
        "pict",
        "object",
        "sym",
        "sectPr",
        "noBreakHyphen",
    )
) | {_W + "lastRenderedPageBreak"}
_SEPARATORS = frozenset({"separator", "continuationSeparator", "continuationNotice"})


def words(package: Package) -> str:
    """A dumb extraction: all text runs of the document, its headers, footers and notes."""
    lines: list[str] = []
    for name in [*package.names(_PARTS), *_NOTES]:
        tree = package.tree(name)
        if tree is None:
            continue
        lines.extend("".join(_visible_texts(paragraph)) for paragraph in tree.iter(_W + "p"))
    return "\n".join(lines)


def repair(package: Package) -> tuple[str, ...]:
    """Make the parts plain, in place; warnings name what is left out."""
    notes = _notes(package)
    for name in package.names(_PARTS):
        tree = package.tree(name)
        if tree is None:
            continue
        _unwrap(tree)
        _place_text_boxes(tree)
        _write_out(tree)
        if name == "word/document.xml":
            _append(tree, notes)
        _drop_empty(tree)
        package.put(name, tree)
    comments = package.tree("word/comments.xml")
    count = 0 if comments is None else len(comments.findall(_W + "comment"))
    return (f"comments: {count} reviewers' comments were left out",) if count else ()


def _visible_texts(paragraph: etree._Element) -> Iterator[str]:
    """Text of the runs whose nearest paragraph this is, deleted and doubled text aside."""
    for node in paragraph.iter(_W + "t", _M + "t", _W + "tab", _W + "br"):
        above = next(node.iterancestors(_W + "p", _W + "del", _W + "moveFrom", _MC + "Fallback"))
        if above is not paragraph or next(node.iterancestors(_W + "rt"), None) is not None:
            continue
        if (
            next(node.iterancestors(_W + "del", _W + "moveFrom", _MC + "Fallback"), None)
            is not None
        ):
            continue
        yield node.text or " "


def _unwrap(tree: etree._Element) -> None:
    for deleted in list(tree.iter(_W + "trPr")):
        row = deleted.getparent()
        if row is not None and deleted.find(_W + "del") is not None:
            _remove(row)
    etree.strip_elements(tree, *_GONE, with_tail=False)
    etree.strip_tags(tree, *_WRAPPERS, _W + "sdt", _MC + "AlternateContent", _MC + "Choice")


def _place_text_boxes(tree: etree._Element) -> None:
    """Each text box's blocks after the paragraph that it hangs on, in order."""
    behind: dict[etree._Element, etree._Element] = {}
    for box in list(tree.iter(_W + "txbxContent")):
        host = next(box.iterancestors(_W + "p"), None)
        if host is None:
            continue
        last = behind.get(host, host)
        for block in list(box):
            last.addnext(block)
            last = block
        behind[host] = last
        _remove(box)


def _write_out(tree: etree._Element) -> None:
    """Formulas, ruby and note references as text runs."""
    for formula in list(tree.iter(_M + "oMath")):
        text = "".join(node.text or "" for node in formula.iter(_M + "t"))
        _replace(formula, _run(text))
    etree.strip_tags(tree, _M + "oMathPara")
    for ruby in list(tree.iter(_W + "ruby")):
        text = "".join(node.text or "" for node in ruby.iter(_W + "t"))
        _replace(ruby, _text(text))
    for kind in _NOTES.values():
        for reference in list(tree.iter(f"{_W}{kind}Reference")):
            _replace(reference, _text(_mark(kind, reference)))


def _notes(package: Package) -> list[etree._Element]:
    paragraphs: list[etree._Element] = []
    for name, kind in _NOTES.items():
        tree = package.tree(name)
        for note in () if tree is None else tree.iter(_W + kind):
            if note.get(_W + "type") in _SEPARATORS:
                continue
            lines = ["".join(_visible_texts(p)).strip() for p in note.iter(_W + "p")]
            text = " ".join(line for line in lines if line)
            if text:
                paragraph = etree.Element(_W + "p")
                paragraph.append(_run(f"{_mark(kind, note)}: {text}"))
                paragraphs.append(paragraph)
    return paragraphs


def _append(tree: etree._Element, paragraphs: list[etree._Element]) -> None:
    body = tree.find(_W + "body")
    if body is None:
        return
    end = body.find(_W + "sectPr")
    for paragraph in paragraphs:
        if end is None:
            body.append(paragraph)
        else:
            end.addprevious(paragraph)


def _drop_empty(tree: etree._Element) -> None:
    for paragraph in list(tree.iter(_W + "p")):
        parent = paragraph.getparent()
        if parent is None or parent.tag in (_W + "tc", _W + "hdr", _W + "ftr"):
            continue
        if not any(node.tag in _CONTENT for node in paragraph.iter()):
            _remove(paragraph)


def _mark(kind: str, node: etree._Element) -> str:
    prefix = "" if kind == "footnote" else "e"
    return f"[^{prefix}{node.get(_W + 'id')}]"


def _run(text: str) -> etree._Element:
    run = etree.Element(_W + "r")
    run.append(_text(text))
    return run


def _text(text: str) -> etree._Element:
    node = etree.Element(_W + "t")
    node.set(_SPACE, "preserve")
    node.text = text
    return node


def _replace(old: etree._Element, new: etree._Element) -> None:
    parent = old.getparent()
    if parent is not None:
        parent.replace(old, new)


def _remove(node: etree._Element) -> None:
    parent = node.getparent()
    if parent is not None:
        parent.remove(node)
