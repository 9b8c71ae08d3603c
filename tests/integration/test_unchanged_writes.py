"""A run that finds nothing changed writes nothing but its own record."""

from pathlib import Path

from benchmarks.counted_writes import counted_writes

from chunkprep_flows.direct import ingest_directly
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.progress import Silent


def test_an_unchanged_run_writes_only_its_record(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# A\n\nSome text.\n")
    (docs / "b.md").write_text("# B\n\nOther text.\n")
    file = tmp_path / "store.db"
    settings = IngestSettings(sources=(str(docs),), store=f"sqlite:///{file}")
    ingest_directly(settings, Silent())
    with counted_writes(file) as written:
        assert ingest_directly(settings, Silent()).unchanged == 2
    assert written == {"runs": 2}  # begun and ended


def test_a_change_is_counted_as_written(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# A\n\nSome text.\n")
    file = tmp_path / "store.db"
    settings = IngestSettings(sources=(str(docs),), store=f"sqlite:///{file}")
    ingest_directly(settings, Silent())
    with counted_writes(file) as written:
        ingest_directly(settings.model_copy(update={"cap": 256}), Silent())
    assert written["collections"] >= 1
    assert written["chunks"] >= 1
