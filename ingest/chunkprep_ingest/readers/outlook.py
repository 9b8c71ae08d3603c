"""Outlook's MSG: turned into a mail as any other, and read as one."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator
from dataclasses import replace
from email.message import EmailMessage
from email.utils import format_datetime
from typing import TYPE_CHECKING

from chunkprep_ingest.decode import clean
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers import unstructured_route as route
from chunkprep_ingest.readers.mail import read_message
from chunkprep_ingest.readers.options import ReadOptions

if TYPE_CHECKING:
    from oxmsg import Message

_RULES = "1"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ANY_BYTES = "application/octet-stream"


def fingerprint() -> str:
    """Moves with our rules and with unstructured's version."""
    return route.fingerprint("msg", _RULES)


def read_msg(data: bytes, name: str, options: ReadOptions) -> ParsedDocument:
    """The message in `data`. Raises ReadError (unsupported_type, corrupt, empty)."""
    if not data.startswith(_OLE):
        raise ReadError("corrupt", f"{name} does not start like an Outlook message")
    try:
        message, unread = _as_mail(_loaded(data))
    except (ReadError, MemoryError, RecursionError):
        raise
    except Exception as error:  # the parser trusts every offset that it reads
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ReadError("corrupt", f"{name} cannot be read: {reason}") from error
    document = read_message(message, name, options)
    return replace(document, reader=fingerprint(), warnings=document.warnings + unread)


def _loaded(data: bytes) -> Message:
    try:
        from oxmsg import Message
    except ImportError as error:
        raise ReadError(
            "unsupported_type", f"MSG files need {error.name}", "install chunkprep[ingest]"
        ) from error
    return Message.load(data)


def _as_mail(source: Message) -> tuple[EmailMessage, tuple[str, ...]]:
    """The mail, and a warning for each attachment that holds no file."""
    mail = EmailMessage()
    for key, value in _headers(source):
        line = " ".join(clean(value).split())
        if line:
            mail[key] = line
    body, markup = source.body, source.html_body
    if markup:
        mail.set_content(clean(markup), subtype="html", cte="8bit")
    else:
        mail.set_content(clean(body or ""), cte="8bit")
    unread: list[str] = []
    for attachment in source.attachments:
        title = clean(attachment.file_name or "attachment")
        if attachment.file_bytes is None:
            unread.append(f"attachment: {title} was not read: unsupported_type")
            continue
        kind = mimetypes.guess_type(title)[0] or _ANY_BYTES
        main, _, sub = kind.partition("/")
        if main in ("message", "multipart"):
            main, sub = "application", "octet-stream"
        mail.add_attachment(attachment.file_bytes, maintype=main, subtype=sub, filename=title)
    return mail, tuple(unread)


def _headers(source: Message) -> Iterator[tuple[str, str]]:
    """What the transport wrote, else what Outlook knows."""
    written = {key.lower(): value for key, value in source.message_headers.items()}
    sent = source.sent_date
    to = ", ".join(f"{to.name} <{to.email_address}>" for to in source.recipients)
    yield "Subject", source.subject or written.get("subject", "")
    yield "From", written.get("from") or source.sender or ""
    yield "To", written.get("to") or to
    yield "Cc", written.get("cc", "")
    yield "Date", written.get("date") or (format_datetime(sent) if sent else "")
