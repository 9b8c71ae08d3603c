"""Freshness is refreshed by ingests that looked at all there is of a source, and by no others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.conftest import Cli

from chunkprep_packer.collection_freshness import CollectionFreshness, collection_freshness
from chunkprep_store import Store

NAMES = ("a.md", "b.txt", "old/c.md")


@pytest.fixture
def docs(cli: Cli) -> Path:
    """A folder of ingested documents."""
    folder = cli.folder / "docs"
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# {name}\n")
    cli.ingest("docs")
    return folder


def fresh(cli: Cli) -> CollectionFreshness:
    with Store.open(cli.url) as store:
        return collection_freshness(store, "default")


def whole(cli: Cli) -> str | None:
    run = fresh(cli).whole
    return None if run is None else run.run_id


def by_name(cli: Cli) -> dict[str, str | None]:
    """The sources that documents come from, by name, and the runs that looked at them whole."""
    return {
        source.source.rpartition("/")[2]: source.whole.run_id if source.whole else None
        for source in fresh(cli).sources
    }


def unmounted(folder: Path) -> None:
    folder.rename(folder.with_name("away"))


def emptied(folder: Path) -> None:
    unmounted(folder)
    folder.mkdir()


def unreadable_below(folder: Path) -> None:
    (folder / "old/.chunkprepignore").mkdir()


def nothing(folder: Path) -> None:
    del folder


@pytest.mark.parametrize(
    ("done", "asked", "code"),
    [
        (nothing, ("nosuch",), 1),
        (nothing, ("http://127.0.0.1:1/x.md",), 1),
        (nothing, ("docs/*.rst",), 1),
        (nothing, ("docs", "--include", "zzz/*"), 0),
        (nothing, ("docs", "--include", "*.txt"), 0),
        (nothing, ("docs", "--exclude", "old/*"), 0),
        (nothing, ("docs/a.md",), 0),
        (nothing, ("docs/*.md",), 0),
        (unmounted, ("docs",), 1),
        (emptied, ("docs",), 0),
        (unreadable_below, ("docs",), 1),
    ],
)
def test_a_run_that_did_not_look_at_all_refreshes_nothing(
    cli: Cli, docs: Path, done: Callable[[Path], None], asked: tuple[str, ...], code: int
) -> None:
    before = fresh(cli)
    assert before.whole is not None
    assert before.whole == before.clean
    done(docs)
    cli.ingest(*asked, code=code)
    after = fresh(cli)
    assert (after.whole, after.clean) == (before.whole, before.clean)


def test_an_empty_folder_beside_a_whole_one_refreshes_nothing_of_its_own(
    cli: Cli, docs: Path
) -> None:
    (cli.folder / "empty").mkdir()
    last = cli.ingest(docs, "empty", "nosuch", code=1)["run_id"]
    assert whole(cli) == last
    assert [stray.source.rpartition("/")[2] for stray in fresh(cli).strays] == ["empty", "nosuch"]


def test_a_run_that_names_every_file_of_a_source_looks_at_it_whole(cli: Cli, docs: Path) -> None:
    last = cli.ingest("docs", "--include", "*.*")["run_id"]
    assert by_name(cli) == {"docs": last}
    last = cli.ingest("docs/**", "--exclude", "*.rst")["run_id"]
    assert by_name(cli) == {"docs": last}
    (docs / "b.txt").unlink()
    last = cli.ingest("docs/**")["run_id"]
    assert by_name(cli) == {"docs": last}
    look = fresh(cli).sources[0].look
    assert look is not None
    assert look.gone == 1


def test_a_collection_is_as_fresh_as_its_oldest_source(cli: Cli, docs: Path) -> None:
    first = whole(cli)
    other = cli.folder / "other"
    other.mkdir()
    (other / "d.md").write_text("# d\n")
    second = cli.ingest("other")["run_id"]
    assert by_name(cli) == {"docs": first, "other": second}
    assert whole(cli) == first
    third = cli.ingest("docs", "other")["run_id"]
    assert by_name(cli) == {"docs": third, "other": third}
    (other / "d.md").write_bytes(b"\xff\xfe\xff")
    fourth = cli.ingest("docs", "other", code=1)["run_id"]
    assert by_name(cli) == {"docs": fourth, "other": third}, "all that was there failed"
    assert whole(cli) == third
    assert docs.is_dir()


def test_a_source_counts_while_a_document_comes_from_it(cli: Cli, docs: Path) -> None:
    cli.ingest("docs/old/c.md")  # another document than old/c.md of docs
    assert set(by_name(cli)) == {"docs", "old"}
    last = cli.ingest("docs")["run_id"]
    assert whole(cli) != last
    cli("withdraw", "c.md", "--reason", "it is in docs")
    assert whole(cli) == last
    docs.rename(cli.folder / "moved")
    last = cli.ingest("moved")["run_id"]
    assert by_name(cli) == {"moved": last}


def test_a_failing_document_leaves_the_rest_whole(cli: Cli, docs: Path) -> None:
    first = whole(cli)
    (docs / "a.md").write_bytes(b"\xff\xfe\xff")
    last = cli.ingest("docs", code=1)["run_id"]
    found = fresh(cli)
    assert found.whole is not None
    assert found.clean is not None
    assert (found.whole.run_id, found.clean.run_id) == (last, first)


def test_sources_are_known_by_where_they_are(cli: Cli, docs: Path) -> None:
    (cli.folder / "link").symlink_to(docs)
    last = cli.ingest("./link/")["run_id"]
    assert by_name(cli) == {"docs": last}
