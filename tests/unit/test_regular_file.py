"""What became a pipe or a device since it was listed is refused, and nothing waits for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chunkprep_flows.gathering import look
from chunkprep_flows.source_metadata import SourceMetadata
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import Fingerprints
from chunkprep_ingest.regular_file import read_regular, regular_bytes
from chunkprep_ingest.rules import RuleBook
from chunkprep_ingest.sources import list_sources


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"text")
    (tmp_path / "link.md").symlink_to("a.md")
    assert regular_bytes(tmp_path / "a.md") == b"text"
    assert regular_bytes(tmp_path / "link.md") == b"text"


def test_a_pipe_put_in_its_place_after_the_listing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text")
    [file] = list_sources([tmp_path]).files
    file.path.unlink()
    os.mkfifo(file.path)
    with pytest.raises(ReadError, match=r"unreadable: .*a\.md: not a regular file"):
        look(file, SourceMetadata(), lambda _: Fingerprints("r", "p", "f"), None)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/tty", "/dev/full"])
def test_a_device_is_refused(tmp_path: Path, device: str) -> None:
    (tmp_path / "a.md").symlink_to(device)
    with pytest.raises(ReadError, match="unreadable"):
        regular_bytes(tmp_path / "a.md")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path)


def test_a_sidecar_that_is_a_pipe_is_told_and_does_not_wait(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text")
    os.mkfifo(tmp_path / "a.md.meta.yaml")
    with pytest.raises(ReadError, match="bad_metadata"):
        RuleBook(tmp_path, None).metadata(tmp_path / "a.md", {})
