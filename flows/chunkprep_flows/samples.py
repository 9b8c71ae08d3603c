"""The sample documents: in the wheel, or beside the source roots in a checkout."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

from chunkprep_ingest.errors import ChunkprepError

MARK = ".chunkprep-demo"
"""A file that says: this folder was made by the demo, and may be made again."""


def samples_folder() -> Path:
    """Where the samples are. Raises ChunkprepError where they were not installed."""
    package = Path(str(files("chunkprep_flows")))
    for folder in (package / "samples", package.parent.parent / "samples"):
        if (folder / "policies").is_dir():
            return folder
    raise ChunkprepError("the sample documents are not installed; install chunkprep again")


def fresh_copy(folder: Path) -> Path:
    """An empty demo folder with a copy of the samples in it; returns the copy.

    Raises ChunkprepError for a folder that holds something the demo did not make.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise ChunkprepError(f"{folder} is not empty; name another folder by --dir")
    if folder.exists():
        for name in ("samples", "chunkprep.db", "chunkprep.db-wal", "chunkprep.db-shm"):
            remove(folder / name)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).write_text("made by `chunkprep demo`, which may remove what is here\n")
    copy = folder / "samples"
    shutil.copytree(samples_folder(), copy)
    return copy


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
