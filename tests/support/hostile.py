"""A folder of files that want to break whoever reads them, and of good ones among them."""

from __future__ import annotations

import email.message
import io
import os
import random
import socket
import struct
import subprocess
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pikepdf
import pptx
from fpdf import FPDF

from chunkprep_ingest.readers import SUPPORTED

MEBIBYTE = 1 << 20
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
_DOCX = "word/document.xml"
_SENTENCE = "Refunds are paid within 14 days. "


def make_good(folder: Path, count: int = 50) -> list[str]:
    """So many files of nine formats; their names."""
    names = []
    for at in range(count):
        suffix, make = _GOOD[at % len(_GOOD)]
        name = f"good-{at:02}{suffix}"
        (folder / name).write_bytes(make(f"Rule {at} holds from its first day on."))
        names.append(name)
    return names


def make_readable(folder: Path) -> list[str]:
    """Odd files that can be read whole, and have to be; their names."""
    words = " ".join(f"word{n % 977}" for n in range(4 * MEBIBYTE // 8))
    nested = "<div>" * 300 + "deep down" + "</div>" * 300
    files = {
        "one-paragraph.txt": (words + " end")[: 4 * MEBIBYTE].encode(),
        "nested.html": nested.encode(),
        "nested.md": b"> " * 300 + b"deep down\n",
        "nested-list.html": b"<ul><li>a" * 300,
        "nested-table.html": b"<table><tr><td>a" * 300,
        "empty-paragraphs.docx": _word(body="<w:p/>" * 100_000, last="At last."),
        "empty-paragraphs.html": b"<p></p>" * 100_000 + b"<p>At last.",
        "far.xlsx": _far(),
        "empty-paragraphs.md": b"\n\n" * 100_000 + b"At last.\n",
    }
    return _write(folder, files)


def make_bad(folder: Path) -> dict[str, str]:
    """One file of each kind that cannot be read; the code that each must fail with."""
    expected: dict[str, str] = {}
    for code, files in (
        ("too_large", _bombs()),
        ("corrupt", _liars() | _damaged()),
        ("needs_password", _locked()),
        ("unsupported_type", _renamed()),
        ("bad_encoding", _binary_as_text()),
        ("empty", _holding_nothing()),
        ("out_of_memory", _eaters()),
        ("timed_out", _sleepers()),
    ):
        expected |= dict.fromkeys(_write(folder, files), code)
    return expected | make_random(folder) | make_loops(folder)


def make_random(folder: Path) -> dict[str, str]:
    """Random bytes under every suffix that has a reader, and the code of each."""
    expected = {}
    for suffix, reader in SUPPORTED.items():
        name = f"random{suffix}"
        (folder / name).write_bytes(random.Random(suffix).randbytes(20_000))
        expected[name] = "bad_encoding" if reader in _TEXTUAL else "corrupt"
    return expected


def make_loops(folder: Path) -> dict[str, str]:
    """Links that lead nowhere but to themselves, and folders that hold themselves."""
    (folder / "self.md").symlink_to("self.md")
    (folder / "there.md").symlink_to("back.md")
    (folder / "back.md").symlink_to("there.md")
    (folder / "inner").mkdir()
    (folder / "inner" / "up").symlink_to("..", target_is_directory=True)
    (folder / "inner" / "again").symlink_to(".", target_is_directory=True)
    return dict.fromkeys(("self.md", "there.md", "back.md"), "unreadable")


def make_pipe(path: Path) -> None:
    """A FIFO that nobody writes to: opening it waits for ever."""
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    """A Unix socket's file, left behind."""
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket may hold 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(here)


def kill_after(process: subprocess.Popen[Any], seconds: float) -> threading.Timer:
    """Kills the process then, unless cancelled."""
    timer = threading.Timer(seconds, process.kill)
    timer.daemon = True
    timer.start()
    return timer


def _write(folder: Path, files: dict[str, bytes]) -> list[str]:
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return list(files)


def _zipped(
    files: dict[str, bytes], *, blanks: int = 0, member: str = _DOCX, empties: int = 0
) -> bytes:
    """An archive; `blanks` MiB of spaces in `member`, and so many empty files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        if blanks:
            with archive.open(member, "w", force_zip64=True) as stream:
                stream.write(b"<a>")
                for _ in range(blanks):
                    stream.write(b" " * MEBIBYTE)
                stream.write(b"</a>")
        for at in range(empties):
            archive.writestr(zipfile.ZipInfo(f"customXml/item{at}.xml"), b"")
    return out.getvalue()


def _bombs() -> dict[str, bytes]:
    return {
        "bomb-ratio.docx": _zipped({}, blanks=600),
        "bomb-ratio.xlsx": _zipped({}, blanks=600, member="xl/workbook.xml"),
        "bomb-count.docx": _zipped({_DOCX: b"<a/>"}, empties=20_001),
        "bomb-count.pptx": _zipped({"ppt/presentation.xml": b"<a/>"}, empties=20_001),
    }


def _liars() -> dict[str, bytes]:
    """Members that claim to be small."""
    bomb = bytearray(_zipped({_DOCX: b"<a>" + b" " * 30 * MEBIBYTE + b"</a>"}))
    entry = bomb.rfind(b"PK\x01\x02")
    struct.pack_into("<I", bomb, entry + 24, 1000)  # the size in the directory
    struct.pack_into("<I", bomb, 22, 1000)  # and in front of the member
    return {"bomb-lying.docx": bytes(bomb)}


def _damaged() -> dict[str, bytes]:
    cut = {
        f"truncated{suffix}": data[: len(data) // 2]
        for suffix, data in (
            (".docx", _docx(_SENTENCE)),
            (".pptx", _pptx(_SENTENCE)),
            (".xlsx", _xlsx(_SENTENCE)),
        )
    }
    return cut | {
        "picture.pdf": _PNG,
        "word.pdf": _docx(_SENTENCE),
        "page.docx": b"<p>" + _SENTENCE.encode(),
        "pdf.xlsx": _pdf(_SENTENCE),
        "broken.docx": _zipped({_DOCX: b"<w:document><w:body>"}),
        "entities.docx": _zipped({_DOCX: _laughs()}),
        "head.pdf": _pdf(_SENTENCE)[:40],
        "nested.docx": _word(body=_nested_tables(300), last="At last."),
    }


def _nested_tables(depth: int) -> str:
    inner = "<w:p><w:r><w:t>deep down</w:t></w:r></w:p>"
    return "<w:tbl><w:tr><w:tc>" * depth + inner + "<w:p/></w:tc></w:tr></w:tbl>" * depth


def _laughs() -> bytes:
    """Entities that make ten of each other, thirty times over."""
    lines = [f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 30)]
    return f'<!DOCTYPE a [<!ENTITY e0 "ha">{"".join(lines)}]><a>&e29;</a>'.encode()


def _locked() -> dict[str, bytes]:
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(_pdf(_SENTENCE))) as pdf:
        pdf.save(out, encryption=pikepdf.Encryption(user="secret", owner="secret"))
    flagged = bytearray(_docx(_SENTENCE))
    struct.pack_into("<H", flagged, flagged.find(b"PK\x01\x02") + 8, 1)
    ole = _OLE + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(500)
    return {"locked.pdf": out.getvalue(), "flagged.docx": bytes(flagged), "locked.xlsx": ole}


def _renamed() -> dict[str, bytes]:
    return {
        "sheet.docx": _xlsx(_SENTENCE),
        "word.pptx": _docx(_SENTENCE),
        "old.docx": _OLE + bytes(1016),
    }


def _binary_as_text() -> dict[str, bytes]:
    return {"picture.md": _PNG, "word.txt": _docx(_SENTENCE), "picture.html": _PNG}


def _holding_nothing() -> dict[str, bytes]:
    return {
        "zero.docx": b"",
        "blank.md": b" \n" * 1000,
        "only-empty.docx": _word(body="<w:p/>" * 100_000),
        "only-tags.html": b"<div><p></p></div>" * 10_000,
    }


def _eaters() -> dict[str, bytes]:
    """Allowed by their size, and too much all the same."""
    rows = b"<w:p><w:r><w:t>x</w:t></w:r></w:p>" * 2_000_000
    return {"eater.docx": _word(body=rows.decode())}


def _sleepers() -> dict[str, bytes]:
    """Verbatim text that opens and never ends: pandoc looks for its end from each opening."""
    return {"unclosed.org": b"=a " * 60_000}


def _far() -> bytes:
    """A sheet with two cells, seventeen thousand million empty ones between them."""
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.active["A1"], book.active["XFD1048576"] = "near", "far"
    book.save(out)
    return out.getvalue()


def _word(*paragraphs: str, body: str = "", last: str = "") -> bytes:
    """A Word file with paragraphs, then raw XML, then a paragraph."""
    document, out = docx.Document(), io.BytesIO()
    for text in paragraphs:
        document.add_paragraph(text)
    document.add_paragraph("MARK")
    if last:
        document.add_paragraph(last)
    document.save(out)
    marked = zipfile.ZipFile(out)
    files = {name: marked.read(name) for name in marked.namelist()}
    mark = b"<w:p><w:r><w:t>MARK</w:t></w:r></w:p>"
    files[_DOCX] = files[_DOCX].replace(mark, body.encode())
    return _zipped(files)


def _docx(text: str) -> bytes:
    document, out = docx.Document(), io.BytesIO()
    document.add_heading("Rules", 1)
    document.add_paragraph(text)
    document.save(out)
    return out.getvalue()


def _pptx(text: str) -> bytes:
    deck, out = pptx.Presentation(), io.BytesIO()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Rules"
    slide.placeholders[1].text = text
    deck.save(out)
    return out.getvalue()


def _xlsx(text: str) -> bytes:
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["rule", text])
    book.active.append(["other", "None."])
    book.save(out)
    return out.getvalue()


def _pdf(text: str) -> bytes:
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("helvetica", size=12)
    pdf.multi_cell(0, 6, text)
    return bytes(pdf.output())


def _eml(text: str) -> bytes:
    message = email.message.EmailMessage()
    message["Subject"], message["From"] = "Rules", "desk@example.com"
    message.set_content(text)
    return message.as_bytes()


_GOOD: tuple[tuple[str, Callable[[str], bytes]], ...] = (
    (".md", lambda text: f"# Rules\n\n{text}\n".encode()),
    (".html", lambda text: f"<h1>Rules</h1><p>{text}".encode()),
    (".docx", _docx),
    (".pdf", _pdf),
    (".txt", str.encode),
    (".csv", lambda text: f"rule,text\n1,{text}\n".encode()),
    (".pptx", _pptx),
    (".eml", _eml),
    (".xlsx", _xlsx),
)

_TEXTUAL = frozenset({"markdown", "html", "csv", "tsv", "text", "eml", "rst", "org"})
