from __future__ import annotations

import io
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import docx
import pytest

from chunkprep_ingest.errors import ChunkprepError, MetadataError, ReadError
from chunkprep_ingest.readers import ReadOptions, read
from chunkprep_ingest.reading_process import IsolatedReader, ReadLimits

MARKDOWN = (
    b"---\nvalid_from: 2026-03-01\nn: 1\n---\n# T\n\n- a\n  - b\n\n\xc3\xa9 \xf0\x9f\x9a\x80\n"
)


@pytest.fixture
def reader() -> Iterator[IsolatedReader]:
    with IsolatedReader() as isolated:
        yield isolated


def pid(reader: IsolatedReader) -> int:
    assert reader._process is not None
    return reader._process.pid


def word(paragraphs: int = 1) -> bytes:
    document, out = docx.Document(), io.BytesIO()
    for at in range(paragraphs):
        document.add_paragraph(f"Paragraph {at} holds a sentence. And it holds a second one.")
    document.save(out)
    return out.getvalue()


def code_of(reader: IsolatedReader, data: bytes, name: str) -> str:
    with pytest.raises(ReadError) as caught:
        reader.read(data, name)
    return caught.value.code


def test_a_file_is_read_as_in_process(reader: IsolatedReader) -> None:
    assert reader.read(MARKDOWN, "a.md") == read(MARKDOWN, "a.md")
    assert reader.read(b"a,b\n1,2\n", "a.csv") == read(b"a,b\n1,2\n", "a.csv")


def test_a_path_is_read_too(reader: IsolatedReader, tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(MARKDOWN)
    assert reader.read(file, "a.md") == read(MARKDOWN, "a.md")
    with pytest.raises(ReadError, match="unreadable"):
        reader.read(tmp_path / "none.md", "none.md")


def test_failures_keep_their_code_kind_and_remedy(reader: IsolatedReader) -> None:
    for data, name in ((b"caf\xe9", "a.txt"), (b"x", "a.xyz"), (b"", "a.md"), (b"PK", "a.docx")):
        with pytest.raises(ReadError) as here:
            read(data, name)
        with pytest.raises(ReadError) as there:
            reader.read(data, name)
        assert str(there.value) == str(here.value)
    with pytest.raises(MetadataError):
        reader.read(b"---\na: b: c\n---\nx", "a.md")


def test_options_reach_the_process(reader: IsolatedReader) -> None:
    options = ReadOptions(fallback_encoding="latin-1")
    assert reader.read(b"caf\xe9", "a.txt", options).text == "café"


def test_the_process_is_reused_and_recycled() -> None:
    with IsolatedReader(ReadLimits(files=3)) as reader:
        seen = []
        for _ in range(7):
            reader.read(b"x", "a.md")
            seen.append(reader._process and reader._process.pid)
        assert seen[0] == seen[1]
        assert seen[2] is None
        assert len({process for process in seen if process}) == 3
    with IsolatedReader(ReadLimits(recycle_bytes=1)) as reader:
        reader.read(b"x", "a.md")
        assert reader._process is None


def test_a_file_that_takes_too_long_fails_alone() -> None:
    with IsolatedReader(ReadLimits(seconds=0.5)) as reader:
        assert code_of(reader, word(3_000), "slow.docx") == "timed_out"
    with IsolatedReader() as reader:
        assert reader.read(b"x", "a.md").text == "x"


def test_a_file_that_takes_too_much_memory_fails_alone() -> None:
    with IsolatedReader(ReadLimits(memory_bytes=150 * 1024 * 1024)) as reader:
        assert code_of(reader, b"word \xc3\xa9\n\n" * 15_000_000, "big.txt") == "out_of_memory"
        assert reader.read(b"x", "a.md").text == "x"


@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGSEGV, "corrupt"), (signal.SIGKILL, "out_of_memory")]
)
def test_a_crash_is_a_failure_with_a_name(
    reader: IsolatedReader, sent: signal.Signals, code: str
) -> None:
    reader.read(b"x", "a.md")
    process = pid(reader)
    slow = word(3_000)  # its reader alone takes seconds to import

    def crash() -> None:
        time.sleep(0.5)
        os.kill(process, sent)

    thread = threading.Thread(target=crash)
    thread.start()
    assert code_of(reader, slow, "crash.docx") == code
    thread.join()
    assert reader.read(b"x", "a.md").text == "x"


def test_a_process_that_died_between_files_is_replaced(reader: IsolatedReader) -> None:
    reader.read(b"x", "a.md")
    os.kill(pid(reader), signal.SIGKILL)
    time.sleep(0.2)
    assert reader.read(b"y", "a.md").text == "y"


def test_what_libraries_print_does_not_disturb(reader: IsolatedReader) -> None:
    long = "lorem ipsum dolor. " * 60_000
    document, out = docx.Document(), io.BytesIO()
    document.add_paragraph(long)
    document.save(out)
    assert reader.read(out.getvalue(), "a.docx").text == long.strip()


def test_threads_take_turns(reader: IsolatedReader) -> None:
    texts: list[str] = []
    threads = [
        threading.Thread(target=lambda at=at: texts.append(reader.read(b"%d" % at, "a.md").text))
        for at in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts) == [str(at) for at in range(8)]


def test_limits_that_let_nothing_through_are_refused() -> None:
    with pytest.raises(ChunkprepError, match="seconds must be above 0"):
        ReadLimits(seconds=0)
