from __future__ import annotations

import subprocess
import sys

import pytest

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.readers import SUPPORTED, read, reader_fingerprint

QUIET = """
import socket, sys
def refuse(*arguments): raise OSError("no network")
socket.socket.connect = socket.getaddrinfo = refuse
"""


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def test_readers_are_imported_only_when_their_files_are_read() -> None:
    assert python(
        "import sys; from chunkprep_ingest.readers import read; read(b'# x', 'a.md');"
        "print({'unstructured', 'lxml', 'pypdfium2', 'spacy', 'pandas'} & set(sys.modules))"
    ) == ("set()\n")


def test_unstructured_reads_without_network_telemetry_or_banner() -> None:
    assert (
        python(
            QUIET + "import io, docx\n"
            "from chunkprep_ingest.readers import read\n"
            "document, out = docx.Document(), io.BytesIO()\n"
            "document.add_paragraph('Some text. And a second sentence, which is longer.')\n"
            "document.save(out)\n"
            "print(len(read(out.getvalue(), 'a.docx').elements))"
        )
        == "1\n"
    )


@pytest.mark.parametrize("suffix", sorted(SUPPORTED))
def test_every_reader_has_a_fingerprint_with_a_version(suffix: str) -> None:
    assert any(character.isdigit() for character in reader_fingerprint(f"a{suffix}"))


@pytest.mark.parametrize(
    ("name", "remedy"), [("a.doc", "save it as .docx"), ("a.PPT", "save it as .pptx")]
)
def test_old_office_files_name_their_remedy(name: str, remedy: str) -> None:
    with pytest.raises(ReadError) as caught:
        read(b"x", name)
    assert (caught.value.code, caught.value.remedy) == ("unsupported_type", remedy)
