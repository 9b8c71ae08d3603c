"""The pages as one file that opens offline: corpus, health, runs, documents and packs."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

import orjson
from markupsafe import Markup

from chunkprep_ingest.errors import NotFoundError
from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import Moment
from chunkprep_packer.pages.corpus_page import corpus_facts, document_list
from chunkprep_packer.pages.document_page import document_facts
from chunkprep_packer.pages.health_page import health_facts
from chunkprep_packer.pages.pack_list_page import pack_list
from chunkprep_packer.pages.pack_page import pack_facts
from chunkprep_packer.pages.rendering import document_of, part, stylesheet
from chunkprep_packer.pages.runs_page import runs_facts
from chunkprep_store import Finding, Store
from chunkprep_store.audit.lists import UnreadableError

CONTENTS = (
    ("corpus", "Corpus"), ("health", "Health"), ("runs", "Runs"), ("list", "Documents"),
    ("log", "Packs"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a report shows in full at most. `size` is in bytes of the facts of the documents, and
    of the packs; `text` in characters of a document as it was read.
    """

    documents: int = 60
    packs: int = 10
    size: int = 3_000_000
    text: int = 20_000


DEFAULT_BOUNDS = Bounds()


class FileLinks(NamedTuple):
    """Anchors of what the file shows in full."""

    documents: Mapping[str, str]
    packs: Mapping[str, str]

    def document(self, key: str, version: int | None = None) -> str | None:
        """The anchor of the version that the file shows, with what changed in it."""
        del version
        return self.documents.get(key)

    def pack(self, request_id: str) -> str | None:
        """The anchor of a pack."""
        return self.packs.get(request_id)


def report_facts(
    store: Store,
    collection: str,
    *,
    at: Moment,
    since: Moment | None = None,
    findings: Iterable[Finding] | None = None,
    bounds: Bounds = DEFAULT_BOUNDS,
) -> dict[str, Any]:
    """Everything the file shows, by the names of its parts. Raises NotFoundError.

    Documents in the latest packs come first, then those about to expire, those of the largest
    blocks, and those that the packs left out; then the others by key.
    """
    corpus = corpus_facts(store, collection, at=at)
    log = pack_list(store, collection, since=since)
    requests = [one["request_id"] for one in log["packs"][: bounds.packs]]
    packs = _fitting(_packs(store, collection, requests), bounds.size)
    wanted = _wanted(store, collection, packs, corpus)
    documents = _documents(store, collection, wanted, at, bounds)
    return {
        "collection": collection,
        "at": iso(at),
        "since": iso(since),
        "corpus": corpus,
        "health": health_facts(store, collection, at=at, since=since, findings=findings),
        "runs": runs_facts(store, collection, at=at),
        "list": document_list(store, collection, at=at),
        "documents": documents,
        "log": log,
        "packs": packs,
        "left_out": {
            "documents_known": len(wanted),
            "documents": len(wanted) - len(documents),
            "packs_logged": log["logged"],
            "packs": log["logged"] - len(packs),
        },
    }


def _packs(store: Store, collection: str, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Those that can be read."""
    for name in names:
        with suppress(UnreadableError):
            yield pack_facts(store, collection, name, {})


def _wanted(
    store: Store, collection: str, packs: Sequence[Mapping[str, Any]], corpus: Mapping[str, Any]
) -> list[str]:
    """Every document's key once, those that the report speaks of first."""
    stored = dict.fromkeys(info.document for info in store.documents(collection))
    used = [one for pack in packs for one in pack["texts"] or ()]
    offered = [one for pack in packs for one in pack["documents"].values()]
    shown = (*used, *corpus["coming_up"], *corpus["largest"], *offered)
    named = [one["document"] for one in shown]
    return list(dict.fromkeys([*(key for key in named if key in stored), *stored]))


def _documents(
    store: Store, collection: str, keys: Sequence[str], at: Moment, bounds: Bounds
) -> list[dict[str, Any]]:
    def found() -> Iterator[dict[str, Any]]:
        for key in keys[: bounds.documents]:
            try:
                yield document_facts(store, collection, key, at=at, most_text=bounds.text)
            except NotFoundError:  # erased meanwhile
                continue

    return sorted(_fitting(found(), bounds.size), key=lambda facts: str(facts["document"]))


def _fitting(facts: Iterable[dict[str, Any]], size: int) -> list[dict[str, Any]]:
    """Those that fit into so many bytes together; one that does not is left out."""
    found, used = [], 0
    for one in facts:
        needed = len(orjson.dumps(one))
        if used + needed <= size:
            used += needed
            found.append(one)
    return found


def report_html(facts: Mapping[str, Any]) -> str:
    """The file: it refers to nothing outside it, and its policy lets it load and run nothing."""
    style = stylesheet()
    values = {
        **facts,
        "contents": CONTENTS,
        "parts": list(_parts(facts)),
        "style": Markup(style),  # noqa: S704 (a file of this package)
        "policy": policy(style),
    }
    return document_of("report.html", values)


def policy(style: str) -> str:
    """The content security policy: the one stylesheet by its hash, and nothing else."""
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _parts(facts: Mapping[str, Any]) -> Iterator[Markup]:
    documents, packs = list(facts["documents"]), list(facts["packs"])
    links = FileLinks(
        {one["document"]: f"#documents/{n}" for n, one in enumerate(documents)},
        {one["request_id"]: f"#packs/{n}" for n, one in enumerate(packs)},
    )
    yield part("corpus.html", facts["corpus"], links=links, ns="corpus/")
    yield part("health.html", facts["health"], links=links, ns="health/")
    yield part("runs.html", facts["runs"], links=links, ns="runs/")
    yield part("documents.html", facts["list"], links=links, ns="list/")
    for n, one in enumerate(documents):
        yield part("document.html", one, links=links, ns=f"documents/{n}/")
    yield part("packs.html", facts["log"], links=links, ns="log/")
    for n, one in enumerate(packs):
        yield part("pack.html", one, links=links, ns=f"packs/{n}/")
