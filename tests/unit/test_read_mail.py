from __future__ import annotations

from email.message import EmailMessage

import pytest

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers import read


def message(subject: str = "Hello", text: str | None = "Dear all,\n\nsome text\n") -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = subject, "a@example.com", "b@example.com"
    mail["Date"] = "Mon, 02 Mar 2026 10:00:00 +0000"
    if text is not None:
        mail.set_content(text)
    return mail


def parse(mail: EmailMessage | bytes) -> ParsedDocument:
    document = read(mail if isinstance(mail, bytes) else mail.as_bytes(), "a.eml")
    assert document.coverage == 1.0
    return document


HEADERS = "From: a@example.com\nTo: b@example.com\nDate: Mon, 02 Mar 2026 10:00:00 +0000"


def texts(mail: EmailMessage | bytes) -> list[str]:
    document = parse(mail)
    return [document.text[e.start : e.end] for e in document.elements]


def test_subject_headers_and_a_plain_body() -> None:
    mail = message("Re: Ünï", "Dear all,\n\na paragraph\nover two lines.\n\n- one\n- two\n")
    assert texts(mail) == [
        "# Re: Ünï",
        HEADERS,
        "Dear all,",
        "a paragraph\nover two lines.",
        "- one",
        "- two",
    ]
    assert parse(mail).title == "Re: Ünï"


def test_an_html_body_is_read_whole() -> None:
    mail = message()
    mail.add_alternative("<p>Hi</p><details>kept</details>", subtype="html")
    assert texts(mail)[2:] == ["Hi", "kept"]


def test_attachments_are_read_by_their_own_reader() -> None:
    mail = message()
    mail.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="x.csv")
    mail.add_attachment(b"# H\n\ntext", maintype="text", subtype="markdown", filename="y.md")
    mail.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="z.png")
    document = parse(mail)
    assert texts(mail)[4:] == [
        "## Attachment: x.csv",
        "| a | b |\n| --- | --- |\n| 1 | 2 |",
        "## Attachment: y.md",
        "### H",
        "text",
    ]
    assert document.warnings == ("attachment: z.png was not read: unsupported_type",)


def test_messages_in_messages_end() -> None:
    mail = message("0")
    for level in range(1, 9):
        outer = message(str(level))
        outer.add_attachment(mail)
        mail = outer
    document = parse(mail)
    assert document.text.count("some text") == 6
    assert document.warnings == ("attachment: message/rfc822 was not read: too_large",)


def test_a_body_in_a_declared_encoding() -> None:
    raw = b"Subject: x\nContent-Type: text/plain; charset=iso-8859-1\n\ncaf\xe9\n"
    assert texts(raw) == ["# x", "café"]


def test_a_body_in_no_declared_encoding_fails_by_name() -> None:
    with pytest.raises(ReadError, match=r"bad_encoding: a.eml: body: byte 0xE9 at offset 3"):
        parse(b"Subject: x\n\ncaf\xe9\n")


def test_a_message_without_content_is_empty() -> None:
    with pytest.raises(ReadError, match="empty"):
        parse(b"From: a@example.com\n\n")
