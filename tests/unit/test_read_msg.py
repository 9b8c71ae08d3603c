from __future__ import annotations

import pytest
from tests.support.compound import compound, message

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.readers import ReadOptions, read, reader_fingerprint


def test_a_message_is_read_like_a_mail() -> None:
    data = message(
        subject="Refunds change",
        body="Refunds are paid within 14 days.\r\n\r\nSee \u00a7 4.",
        sender=("The desk", "desk@example.com"),
        to=("Travel desk", "travel@example.com"),
    )
    document = read(data, "a.msg")
    assert document.title == "Refunds change"
    assert document.text.split("\n\n") == [
        "# Refunds change",
        "From: The desk <desk@example.com>\nTo: Travel desk <travel@example.com>",
        "Refunds are paid within 14 days.",
        "See \u00a7 4.",
    ]
    assert (document.coverage, document.warnings) == (1.0, ())
    assert document.reader == reader_fingerprint("b.msg")


def test_the_html_body_wins_and_its_navigation_can_be_left_out() -> None:
    data = message(subject="S", body="plain", html=b"<nav>Home page</nav><h2>Rules</h2><p>One.")
    assert "## Rules\n\nOne." in read(data, "a.msg").text
    without = read(data, "a.msg", ReadOptions(keep_boilerplate=False))
    assert "Home" not in without.text
    assert without.coverage == 1.0
    assert without.warnings == ("boilerplate: 2 words of navigation were left out",)


def test_attachments_are_read_by_their_own_readers() -> None:
    long = b"# Fees\n\n" + b"A fee of 5 is due. " * 400
    data = message(subject="S", body="B.", attachments={"fees.md": long, "x.bin": b"\0\1"})
    document = read(data, "a.msg")
    assert "### Fees" in document.text
    assert document.text.count("A fee of 5 is due.") == 400
    assert document.warnings == ("attachment: x.bin was not read: unsupported_type",)


@pytest.mark.parametrize("data", [b"From: a\n\nb", message(body="B.")[:700], b"\xd0\xcf" * 600])
def test_what_is_no_message_is_corrupt(data: bytes) -> None:
    with pytest.raises(ReadError) as caught:
        read(data, "a.msg")
    assert caught.value.code == "corrupt"


def test_a_message_that_says_nothing_is_empty() -> None:
    for data in (message(), compound({"other": b"x"})):
        with pytest.raises(ReadError) as caught:
            read(data, "a.msg")
        assert caught.value.code in ("empty", "corrupt")
