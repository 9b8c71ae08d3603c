"""EPUB, ODT, RTF, reStructuredText and Org: pandoc makes HTML of them, offline and in its sandbox.

pandoc comes with the extra `formats`. No other pandoc is used: what is read depends on its version.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution

from chunkprep_ingest.coverage import covered
from chunkprep_ingest.decode import clean, decode
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers.html import find_blocks
from chunkprep_ingest.readers.options import ReadOptions
from chunkprep_ingest.readers.package import open_package
from chunkprep_ingest.readers.pandoc_words import epub_words, odt_words
from chunkprep_ingest.readers.rtf_words import rtf_words
from chunkprep_ingest.readers.writing import TextWriter

_RULES = "1"
_PACKAGE = "pypandoc-binary"
_RTF = b"{\\rtf"
_SUBSTITUTE = re.compile(rb"(?<!\\)\\u(-?\d+)\?")
_HEAP_EXHAUSTED = 251  # exit status of GHC's runtime
_NO_MEMORY = re.compile(r"out of memory|heap exhausted|memory allocation failed", re.IGNORECASE)
_NOTE = re.compile(r'<a href="[^"]*" class="footnote-ref"[^>]*><sup>(\d+)</sup></a>')
_NOTE_BACK = re.compile(r'<a href="[^"]*" class="footnote-back"[^>]*>[^<]*</a>')
_CODE = re.compile(r'<pre class="([\w+#.-]+)"[^>]*><code>')
_ALWAYS = (
    "--sandbox",
    "--to=html5",
    "--wrap=none",
    "--mathjax",
    "--email-obfuscation=none",
    "--syntax-highlighting=none",
)
_WITH_TITLE = ("--standalone", "--metadata=pagetitle=-")
"""Org and ODT keep a title outside of the text."""


def fingerprint() -> str:
    """Moves with our rules and with the pandoc that the extra ships.

    Raises ReadError (unsupported_type) where the extra is not installed.
    """
    return f"pandoc/{_RULES}+{_PACKAGE}-{_pandoc()[1]}"


def read_epub(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The book in `data`. Raises ReadError, as every reader here (unsupported_type, corrupt …)."""
    package = open_package(data, name, "META-INF/container.xml", options)
    document, left_out = _read("epub", data, name, options)
    return covered(document, epub_words(package), left_out)


def read_odt(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The text document in `data`."""
    package = open_package(data, name, "content.xml", options)
    if b"encryption-data" in package.parts.get("META-INF/manifest.xml", b""):
        raise ReadError("needs_password", f"{name} is encrypted")
    document, left_out = _read("odt", data, name, options, *_WITH_TITLE)
    return covered(document, odt_words(package), left_out)


def read_rtf(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The text document in `data`."""
    if not data.lstrip().startswith(_RTF):
        raise ReadError("corrupt", f"{name} does not start like RTF")
    document, left_out = _read("rtf", _repaired_rtf(data), name, options)
    return covered(document, rtf_words(data), left_out)


def read_rst(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The reStructuredText in `data`; nothing that it includes from elsewhere is read."""
    text = decode(data, options.fallback_encoding).text
    return _read("rst", text.encode(), name, options)[0]


def read_org(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The Org text in `data`; nothing that it includes from elsewhere is read."""
    text = decode(data, options.fallback_encoding).text
    return _read("org", text.encode(), name, options, *_WITH_TITLE)[0]


def _read(
    kind: str, data: bytes, name: str, options: ReadOptions, *arguments: str
) -> tuple[ParsedDocument, str]:
    """The document, and the text that a setting keeps out of it."""
    blocks = find_blocks(_tidy(_html(kind, data, name, arguments)), options)
    writer = TextWriter()
    for found in blocks.found:
        writer.add(found)
    document = writer.document(name, fingerprint())
    return replace(document, warnings=blocks.warnings()), blocks.left_out()


def _repaired_rtf(data: bytes) -> bytes:
    r"""What pandoc loses, put so that it does not.

    LibreOffice marks notes as what a reader may ignore, and pandoc does; after `\u8364?` pandoc
    swallows one character too many.
    """
    return _SUBSTITUTE.sub(rb"\\u\1 ?", data.replace(rb"{\*\footnote", rb"{\footnote"))


def _html(kind: str, data: bytes, name: str, arguments: tuple[str, ...]) -> str:
    command = [_pandoc()[0], f"--from={kind}", *_ALWAYS, *arguments]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    if done.returncode:
        told = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
        if done.returncode == _HEAP_EXHAUSTED or _NO_MEMORY.search(told):
            raise MemoryError
        raise ReadError("corrupt", f"{name} cannot be read: {told or done.returncode}")
    return clean(done.stdout.decode("utf-8", "replace"))


def _tidy(markup: str) -> str:
    """Notes referred to by [1], without links back, and code with its language as HTML has it."""
    markup = _NOTE_BACK.sub("", _NOTE.sub(r"[\1]", markup))
    return _CODE.sub(r'<pre><code class="language-\1">', markup)


@cache
def _pandoc() -> tuple[str, str]:
    """The program that the extra ships, and the extra's version."""
    try:
        shipped = distribution(_PACKAGE)
    except PackageNotFoundError:
        raise ReadError(
            "unsupported_type",
            "EPUB, ODT, RTF, RST and ORG files need pandoc",
            "install chunkprep[formats], which ships it",
        ) from None
    program = "pandoc.exe" if sys.platform == "win32" else "pandoc"
    return str(shipped.locate_file(f"pypandoc/files/{program}")), shipped.version
