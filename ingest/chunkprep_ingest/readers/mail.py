"""Mail: subject, who wrote to whom and when, the body, and the attachments that can be read.

Plain bodies go through unstructured, HTML bodies through our own reader (unstructured's leaves
text out). Attachments are read by the reader of their own kind.
"""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Iterator
from email.message import EmailMessage
from typing import NamedTuple, cast

from chunkprep_ingest.coverage import covered
from chunkprep_ingest.decode import clean, decode
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers import unstructured_route as route
from chunkprep_ingest.readers.html import find_blocks, visible_words
from chunkprep_ingest.readers.options import ReadOptions
from chunkprep_ingest.readers.writing import Found, TextWriter

_RULES = "1"
_HEADERS = ("From", "To", "Cc", "Date")
_LINE_BREAK = "\ue001"  # private use
_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\w{1,3}[.)])\s+\S")
_DEEPEST = 5  # messages inside messages
_BELOW = 2  # levels that an attachment's headings stand below the message's


def fingerprint() -> str:
    """Moves with our rules and with unstructured's version."""
    return route.fingerprint("eml", _RULES)


def read_eml(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The message in `data`. Raises ReadError (bad_encoding, corrupt, empty)."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    return read_message(message, name, options)


def read_message(
    message: EmailMessage, name: str, options: ReadOptions, depth: int = 0
) -> ParsedDocument:
    """The message with its attachments; `depth` counts the messages that it is attached to."""
    writer = TextWriter()
    subject = _header(message, "Subject")
    if subject:
        writer.add(Found("title", subject, 1))
    lines = [f"{key}: {_header(message, key)}" for key in _HEADERS if _header(message, key)]
    body = _body(message, name, options)
    attachments, warnings = _attachments(message, options, depth)
    if not (subject or body.found or attachments):
        raise ReadError("empty", f"{name} holds neither subject nor text")
    writer.add(Found("paragraph", "\n".join(lines)))
    for found in route.without_leaps(body.found):
        writer.add(found)
    for title, attached in attachments:
        writer.add(Found("title", title, _BELOW))
        writer.copy(attached, deeper=_BELOW)
    document = writer.document(
        name, fingerprint(), title=subject, warnings=warnings + body.warnings
    )
    return covered(document, "\n".join([subject, *lines, body.words]), body.left_out)


class _Body(NamedTuple):
    """The body's blocks, its words by a dumb extraction, and what a setting keeps out of it."""

    found: list[Found]
    words: str = ""
    left_out: str = ""
    warnings: tuple[str, ...] = ()


def _body(message: EmailMessage, name: str, options: ReadOptions) -> _Body:
    part = message.get_body(("html", "plain"))
    if part is None:
        return _Body([])
    text = _text(cast(EmailMessage, part), name, options)
    if part.get_content_type() == "text/html":
        blocks = find_blocks(text, options)
        return _Body(blocks.found, visible_words(text), blocks.left_out(), blocks.warnings())
    return _Body(list(_plain(text, name)), text)


def _plain(text: str, name: str) -> Iterator[Found]:
    if not text.strip():
        return
    plain = EmailMessage()
    plain.set_content(_grouped(text))
    for element in route.partition(
        "email",
        plain.as_bytes(),
        name,
        content_source="text/plain",
        process_attachments=False,
        paragraph_grouper=False,
    ):
        element.text = element.text.replace(_LINE_BREAK, "\n")
        if element.category == "ListItem":
            yield route.list_item(element, None)
        else:
            yield Found("paragraph", element.text)


def _grouped(text: str) -> str:
    """`text` with the line breaks inside paragraphs guarded: unstructured cuts at every one."""
    pieces: list[str] = []
    above = ""
    for line in text.split("\n"):
        inside = above.strip() and line.strip() and not _ITEM.match(line)
        pieces.append((_LINE_BREAK if inside else "\n") + line)
        above = line
    return "".join(pieces)


def _text(part: EmailMessage, name: str, options: ReadOptions) -> str:
    """The text of a part in the encoding that it declares, else by our rule for every text."""
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else str(payload or "").encode()
    declared = part.get_content_charset()
    if declared and declared not in ("us-ascii", "utf-8"):
        try:
            return clean(data.decode(declared))
        except (LookupError, UnicodeDecodeError):
            pass
    try:
        return decode(data, options.fallback_encoding).text
    except ReadError as error:
        raise ReadError(error.code, f"{name}: body: {error.detail}", error.remedy) from error


def _attachments(
    message: EmailMessage, options: ReadOptions, depth: int
) -> tuple[list[tuple[str, ParsedDocument]], tuple[str, ...]]:
    """Title and content of each attachment that can be read; a warning for each that cannot."""
    read: list[tuple[str, ParsedDocument]] = []
    warnings: list[str] = []
    for part in message.iter_attachments():
        title = clean(part.get_filename() or part.get_content_type())
        try:
            document = _attachment(part, title, options, depth)
        except ReadError as error:
            warnings.append(f"attachment: {title} was not read: {error.code}")
        else:
            read.append((f"Attachment: {title}", document))
            warnings.extend(document.warnings)
    return read, tuple(warnings)


def _attachment(part: EmailMessage, title: str, options: ReadOptions, depth: int) -> ParsedDocument:
    from chunkprep_ingest.readers.registry import read

    if depth >= _DEEPEST:
        raise ReadError("too_large", f"{title} is attached {depth} messages deep")
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload(0) if part.is_multipart() else part.get_content()
        return read_message(cast(EmailMessage, inner), title, options, depth + 1)
    payload = part.get_payload(decode=True)
    return read(payload if isinstance(payload, bytes) else b"", title, options)


def _header(message: EmailMessage, key: str) -> str:
    try:
        return " ".join(clean(str(message.get(key) or "")).split())
    except (ValueError, IndexError, AttributeError):  # headers that the parser chokes on
        return ""
