from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from chunkprep_ingest.errors import ChunkprepError
from chunkprep_ingest.folder_walk import walk
from chunkprep_ingest.listing import Listing
from chunkprep_ingest.source_filters import Filter
from chunkprep_ingest.sources import list_sources


def write(root: Path, *names: str) -> None:
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"text of " + os.fsencode(name))


def keys(listing: Listing) -> list[str]:
    return [file.key for file in listing.files]


def test_a_folder_gives_keys_relative_to_itself_in_order(tmp_path: Path) -> None:
    write(tmp_path, "b/readme.md", "a/readme.md", "z.txt", "a/b/c.md")
    listing = list_sources([tmp_path])
    assert keys(listing) == ["a/b/c.md", "a/readme.md", "b/readme.md", "z.txt"]
    first = listing.files[0]
    assert first.uri == (tmp_path.resolve() / "a/b/c.md").as_uri()
    assert first.size == len("text of a/b/c.md")
    assert not first.named
    assert listing.complete


def test_a_file_named_by_itself_has_its_name_as_key(tmp_path: Path) -> None:
    write(tmp_path, "a/readme.md")
    listing = list_sources([str(tmp_path / "a/readme.md")])
    assert keys(listing) == ["readme.md"]
    assert listing.files[0].named


def test_two_files_with_one_key_each_fail_by_themselves(tmp_path: Path) -> None:
    write(tmp_path, "a/readme.md", "b/readme.md", "b/other.md")
    one, two = tmp_path / "a/readme.md", tmp_path / "b/readme.md"
    listing = list_sources([one, two, tmp_path / "b/other.md", two])
    assert keys(listing) == ["other.md"]
    assert [(item.key, item.error.code) for item in listing.unreadable] == [
        ("readme.md", "key_clash")
    ] * 2
    assert f"{one} and {two} would be" in listing.unreadable[0].error.detail
    assert f"{two} and {one} would be" in listing.unreadable[1].error.detail
    assert listing.complete
    assert listing.keys == {"other.md", "readme.md"}


def test_names_that_look_alike_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path, "caf\u00e9.md", "cafe\u0301.md", "good.md")
    listing = list_sources([tmp_path])
    assert keys(listing) == ["good.md"]
    for item in listing.unreadable:
        assert "caf\\xe9.md" in item.error.detail
        assert "cafe\\u0301.md" in item.error.detail


def test_a_name_that_is_no_utf_8_and_its_escape_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path, os.fsdecode(b"caf\xe9.md"), "caf\\xe9.md")
    told = list_sources([tmp_path]).unreadable[0].error.detail
    assert "caf\\udce9.md" in told
    assert "caf\\\\xe9.md" in told


def test_of_three_files_with_one_key_each_is_told(tmp_path: Path) -> None:
    write(tmp_path, "a/x.md", "b/x.md", "c/x.md")
    listing = list_sources([tmp_path / f"{name}/x.md" for name in "abc"])
    assert not listing.files
    assert len(listing.unreadable) == 3
    assert "(and 1 more)" in listing.unreadable[2].error.detail


def test_a_file_reached_twice_is_listed_once(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    assert keys(list_sources([tmp_path, tmp_path, tmp_path / "a.md"])) == ["a.md"]


def test_a_glob_gives_keys_below_its_fixed_folder(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "docs/x/b.md", "docs/x/c.txt", "docs/.hidden/d.md")
    assert keys(list_sources([f"{tmp_path}/docs/**/*.md"])) == ["a.md", "x/b.md"]


def test_hidden_files_rules_and_sidecars_are_not_documents(tmp_path: Path) -> None:
    write(tmp_path, "a.md", ".b.md", ".git/c.md", "a.md.meta.yaml", "chunkprep.yaml", "x.bin")
    assert keys(list_sources([tmp_path])) == ["a.md", "x.bin"]


def test_include_and_exclude(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.txt", "old/c.md", "old/keep/d.md")
    listing = list_sources([tmp_path], include=["*.md"], exclude=["old/*.md"])
    assert keys(listing) == ["a.md", "old/keep/d.md"]


def test_ignore_files_count_from_their_own_folder(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "sub/a.md", "sub/b.md", "drafts/c.md")
    (tmp_path / ".chunkprepignore").write_text("drafts/\n# a comment\n")
    (tmp_path / "sub/.chunkprepignore").write_text("/a.md\n")
    assert keys(list_sources([tmp_path])) == ["a.md", "sub/b.md"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_an_ignore_file_may_begin_with_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    write(tmp_path, "a.md", "drafts/c.md")
    (tmp_path / ".chunkprepignore").write_text("drafts/\n", encoding=encoding)
    assert keys(list_sources([tmp_path])) == ["a.md"]


def latin(file: Path) -> None:
    file.write_bytes(b"entw\xfcrfe/\n")


def no_mark(file: Path) -> None:
    file.write_bytes("entwürfe/\n".encode("utf-16-le"))


def dangling(file: Path) -> None:
    file.symlink_to("nowhere")


@pytest.mark.parametrize("make", [latin, no_mark, Path.mkdir, dangling])
def test_a_folder_whose_ignore_file_cannot_be_read_fails(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    write(tmp_path, "a.md", "sub/b.md", "sub/deep/c.md", "z/d.md")
    make(tmp_path / "sub/.chunkprepignore")
    listing = list_sources([tmp_path])
    assert keys(listing) == ["a.md", "z/d.md"]
    [item] = listing.unreadable
    assert item.key == "sub/.chunkprepignore"
    assert "without it nothing of its folder is ingested" in item.error.detail
    assert "UTF-8" in item.error.remedy
    assert not listing.complete


def test_a_folder_whose_ignore_file_could_not_be_downloaded_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "sub/b.md")
    lost = [tmp_path / "sub" / ".chunkprepignore"]
    found = walk(tmp_path, Filter(), lambda path, reason, remedy: None, lost)
    assert [entry.relative for entry in found] == ["a.md"]


def test_link_loops_end_and_each_file_is_listed_once(tmp_path: Path) -> None:
    write(tmp_path, "real/a.md", "b.md")
    (tmp_path / "self").symlink_to(".")
    (tmp_path / "real/up").symlink_to("..")
    (tmp_path / "alias").symlink_to("real")
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    (tmp_path / "a-link.md").symlink_to("b.md")
    listing = list_sources([tmp_path])
    assert keys(listing) == ["b.md", "real/a.md"]
    assert [item.key for item in listing.unreadable] == ["one", "two"]


def test_links_out_of_the_folder_are_followed(tmp_path: Path) -> None:
    write(tmp_path, "out/x/a.md", "in/b.md")
    (tmp_path / "in/far").symlink_to(tmp_path / "out")
    assert keys(list_sources([tmp_path / "in"])) == ["b.md", "far/x/a.md"]


def test_missing_paths_and_broken_links_are_unreadable(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    listing = list_sources([tmp_path, tmp_path / "missing.md", f"{tmp_path}/none/*.md"])
    assert keys(listing) == ["a.md"]
    assert [item.error.code for item in listing.unreadable] == ["unreadable"] * 3
    assert not listing.complete


def test_pipes_and_sockets_are_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(tmp_path)  # a socket's path is short on some systems
        try:
            server.bind("s.md")
        finally:
            os.chdir(here)
    assert keys(list_sources([tmp_path])) == []
    named = list_sources([tmp_path / "pipe.md"])
    assert named.unreadable[0].error.detail.endswith("not a regular file")


def test_names_that_are_no_utf_8_get_a_printable_key(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.md")
    write(tmp_path, name)
    assert keys(list_sources([tmp_path])) == ["caf\\xe9.md"]


def test_keys_are_composed_unicode(tmp_path: Path) -> None:
    write(tmp_path, "cafe\u0301.md")
    assert keys(list_sources([tmp_path])) == ["caf\u00e9.md"]


def test_a_pattern_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ChunkprepError, match="--exclude"):
        list_sources([tmp_path], exclude=["!"])
