"""A folder of documents and a store, with ingest runs between them as a user starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chunkprep_flows.auditing import findings
from chunkprep_flows.ingest_report import IngestReport
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.opened import now
from chunkprep_flows.runner import run_directly
from chunkprep_packer import Candidate, Packer, PackRequest
from chunkprep_store import Store, VersionInfo

COLLECTION = "default"


@dataclass(frozen=True)
class Desk:
    """Documents in `folder`, their chunks in the store at `url`."""

    folder: Path
    url: str

    def write(self, name: str, text: str | bytes) -> Path:
        """Put a document there."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def remove(self, name: str) -> None:
        """Take it away."""
        (self.folder / name).unlink()

    def run(self, *more: str, **settings: Any) -> IngestReport:
        """One ingest of the folder, without Prefect."""
        sources = (str(self.folder), *more)
        return run_directly(IngestSettings(sources=sources, store=self.url, **settings))

    def outcomes(self, *more: str, **settings: Any) -> dict[str, str]:
        """One ingest: what became of each document."""
        report = self.run(*more, **settings)
        return {o.document: o.outcome for o in report.documents}

    def process(self, *options: str) -> subprocess.Popen[str]:
        """An ingest of the folder in a process of its own."""
        command = [sys.executable, "-m", "chunkprep_flows.cli", "ingest", str(self.folder)]
        return subprocess.Popen(
            [*command, "--direct", "--store", self.url, "--json", *options],
            cwd=self.folder.parent, env=dict(os.environ), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def store(self) -> Store:
        """The store; close it."""
        return Store.open(self.url, create=False)

    def standing(self) -> dict[str, tuple[int, str]]:
        """Version and status of each document."""
        with self.store() as store:
            return {d.document: (d.version, d.status) for d in store.documents(COLLECTION)}

    def versions(self, document: str) -> list[VersionInfo]:
        """All versions of a document, in order."""
        with self.store() as store:
            return list(store.versions(COLLECTION, document))

    def ids(self, document: str, version: int | None = None) -> list[str]:
        """Chunk ids of the version, or of the active one."""
        with self.store() as store:
            return [r.chunk_id for r in store.chunks(COLLECTION, document, version)]

    def texts(self, at: int | None = None) -> str:
        """Everything in force at a moment, by the read path that lists chunks."""
        moment = now() if at is None else at
        with self.store() as store:
            return "\n".join(
                row.text
                for d in store.documents(COLLECTION, at=moment)
                for row in store.chunks(COLLECTION, d.document, d.version)
            )

    def found(self, query: str, **options: Any) -> set[str]:
        """Documents that a search finds."""
        with self.store() as store:
            hits = store.search(COLLECTION, query, top=20, at=now(), **options)
            return {hit.document for hit in hits}

    def packed(self, ids: list[str]) -> str:
        """The context that these candidates give now."""
        with Packer.open(self.url, log="off") as packer:
            candidates = [Candidate(chunk_id, 1.0) for chunk_id in ids]
            return packer.pack(PackRequest(budget=100_000, candidates=candidates)).text

    def failures(self) -> dict[str, tuple[str, int]]:
        """Code and attempts of each failing document."""
        with self.store() as store:
            return {f.document: (f.code, f.attempts) for f in store.failures(COLLECTION)}

    def audit(self, **options: Any) -> list[tuple[str, str | None]]:
        """What the audit names: check and document."""
        with self.store() as store:
            found = findings(store, COLLECTION, now=now(), recount="all", **options)
            return [(f.check, f.document) for f in found]
