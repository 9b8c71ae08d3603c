"""A local vector index that stays in step with chunkprep's change feed.

The index is a SQLite file with sqlite-vec. It needs two wheels besides chunkprep,
`pip install sqlite-vec apsw`: apsw, because the sqlite3 module of many Pythons loads no extensions.

    python examples/vector_index.py sync
    python examples/vector_index.py search "how long is the refund window" --top 8
    python examples/vector_index.py ids
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import apsw
import sqlite_vec

from chunkprep_store import Change, Store

DIMENSIONS = 256
PAGE = 500
ALWAYS = -(2**62), 2**62
"""Stand-ins for an open start and an open end: sqlite-vec's columns hold no NULL."""

SCHEMA = f"""
CREATE TABLE IF NOT EXISTS position (collection TEXT PRIMARY KEY, cursor INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS chunks (
    id INTEGER PRIMARY KEY,
    chunk_id TEXT NOT NULL UNIQUE,
    content_hash TEXT NOT NULL,
    document TEXT NOT NULL,
    version INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS chunks_content_hash ON chunks (content_hash);
CREATE VIRTUAL TABLE IF NOT EXISTS vectors USING vec0(
    embedding float[{DIMENSIONS}] distance_metric=cosine,
    starts integer,
    ends integer
);
"""

Embed = Callable[[str], Sequence[float]]


def hashed_words(text: str) -> list[float]:
    """A stand-in for an embedding model: words and their trigrams, hashed to a unit vector.

    The same on every machine, and nothing is downloaded. Put your model's call in its place.
    """
    vector = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        parts = [word, *(f"{word}$"[n : n + 3] for n in range(len(word) - 1))]
        for part in parts:
            digest = int.from_bytes(blake2b(part.encode(), digest_size=8).digest(), "big")
            vector[digest % DIMENSIONS] += 1.0 if digest >> 63 else -1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]


@dataclass
class Done:
    """What a sync did. `embedded` and `reused` count the chunks that were not there before."""

    upserts: int = 0
    removals: int = 0
    embedded: int = 0
    reused: int = 0
    expired: int = 0
    cursor: int = 0


class VectorIndex:
    """One collection's vectors in a file.

    `embed` turns a chunk's text into DIMENSIONS numbers; `clock` tells the microseconds UTC, which
    is what the feed's dates are in.
    """

    def __init__(
        self,
        path: str,
        collection: str,
        embed: Embed = hashed_words,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
    ) -> None:
        self.collection = collection
        self.embed = embed
        self.clock = clock
        self.database = apsw.Connection(path)
        self.database.enable_load_extension(True)
        self.database.load_extension(sqlite_vec.loadable_path())
        self.database.enable_load_extension(False)
        self.database.execute(SCHEMA)

    def sync(self, store: Store) -> Done:
        """Apply what the feed holds beyond the cursor, then drop what its dates have ended.

        The entries of a page and the cursor behind them are one transaction: killed anywhere, the
        index goes on where it stopped.
        """
        done = Done(cursor=self.cursor())
        while page := store.changes(self.collection, done.cursor, PAGE):
            with self.database:
                for change in page:
                    self.apply(change, done)
                done.cursor = page[-1].cursor
                self.database.execute(
                    "INSERT INTO position VALUES (?, ?) "
                    "ON CONFLICT (collection) DO UPDATE SET cursor = excluded.cursor",
                    (self.collection, done.cursor),
                )
        with self.database:
            self.drop_expired(done)
        return done

    def apply(self, change: Change, done: Done) -> None:
        """One entry of the feed; applying it twice does no harm."""
        if change.action == "remove":
            done.removals += 1
            self.remove(change.chunk_id)
            return
        done.upserts += 1
        start, end = ALWAYS
        dates = (
            start if change.effective_from is None else change.effective_from,
            end if change.effective_to is None else change.effective_to,
        )
        row = self.row(change.chunk_id)
        if row is not None:  # the same chunk with other dates: its text never changes
            update = "UPDATE vectors SET starts = ?, ends = ? WHERE rowid = ?"
            self.database.execute(update, (*dates, row))
            return
        embedding = self.embedding(change, done)
        self.database.execute(
            "INSERT INTO chunks (chunk_id, content_hash, document, version) VALUES (?, ?, ?, ?)",
            (change.chunk_id, change.content_hash, change.document, change.version),
        )
        self.database.execute(
            "INSERT INTO vectors (rowid, embedding, starts, ends) VALUES (?, ?, ?, ?)",
            (self.database.last_insert_rowid(), embedding, *dates),
        )

    def embedding(self, change: Change, done: Done) -> bytes:
        """The vector of a chunk with the same content, if the index holds one, else a new one.

        A new version brings new ids for all its chunks; most of their texts are as before. The feed
        puts a transaction's upserts before its removals, so the old vectors are still there.
        """
        found = self.database.execute(
            "SELECT v.embedding FROM chunks c JOIN vectors v ON v.rowid = c.id "
            "WHERE c.content_hash = ? LIMIT 1",
            (change.content_hash,),
        ).fetchone()
        if found is not None:
            done.reused += 1
            return bytes(found[0])
        done.embedded += 1
        return bytes(sqlite_vec.serialize_float32(list(self.embed(change.text or ""))))

    def drop_expired(self, done: Done) -> None:
        """A date that passes makes no entry in the feed: the entries carried the dates."""
        ended = self.database.execute(
            "SELECT c.chunk_id FROM vectors v JOIN chunks c ON c.id = v.rowid WHERE v.ends <= ?",
            (self.clock(),),
        ).fetchall()
        for (chunk_id,) in ended:
            self.remove(str(chunk_id))
        done.expired = len(ended)

    def remove(self, chunk_id: str) -> None:
        """Take a chunk out, if it is there."""
        row = self.row(chunk_id)
        if row is not None:
            self.database.execute("DELETE FROM vectors WHERE rowid = ?", (row,))
            self.database.execute("DELETE FROM chunks WHERE id = ?", (row,))

    def row(self, chunk_id: str) -> int | None:
        """The number under which a chunk is held."""
        query = "SELECT id FROM chunks WHERE chunk_id = ?"
        found = self.database.execute(query, (chunk_id,)).fetchone()
        return None if found is None else int(found[0])

    def search(self, question: str, top: int) -> list[dict[str, object]]:
        """The nearest chunks in force now, as `chunkprep pack --candidates` takes them."""
        now = self.clock()
        vector = sqlite_vec.serialize_float32(list(self.embed(question)))
        found = self.database.execute(
            "WITH nearest AS (SELECT rowid, distance FROM vectors "
            "WHERE embedding MATCH ? AND k = ? AND starts <= ? AND ends > ?) "
            "SELECT c.chunk_id, n.distance FROM nearest n JOIN chunks c ON c.id = n.rowid "
            "ORDER BY n.distance, c.chunk_id",
            (vector, top, now, now),
        )
        return [{"chunk_id": chunk_id, "score": 1 - distance} for chunk_id, distance in found]

    def ids(self) -> list[str]:
        """Every chunk id held, for `chunkprep audit --index-ids`."""
        return [row[0] for row in self.database.execute("SELECT chunk_id FROM chunks ORDER BY 1")]

    def cursor(self) -> int:
        """The last entry of the feed that was applied."""
        query = "SELECT cursor FROM position WHERE collection = ?"
        found = self.database.execute(query, (self.collection,)).fetchone()
        return 0 if found is None else int(found[0])


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line of the example."""
    parser = argparse.ArgumentParser(description="A vector index in step with chunkprep.")
    parser.add_argument("--store", default="sqlite:///chunkprep.db")
    parser.add_argument("--collection", default="default")
    parser.add_argument("--index", default="vectors.db", help="the index's file")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("sync", help="apply what has changed")
    commands.add_parser("ids", help="print every chunk id held")
    search = commands.add_parser("search", help="print candidates as JSON lines")
    search.add_argument("question")
    search.add_argument("--top", type=int, default=8)
    args = parser.parse_args(arguments)
    index = VectorIndex(args.index, args.collection)
    if args.command == "sync":
        with Store.open(args.store, create=False) as store:
            print(index.sync(store), file=sys.stderr)
    elif args.command == "ids":
        print("\n".join(index.ids()))
    else:
        for candidate in index.search(args.question, args.top):
            print(json.dumps(candidate))


if __name__ == "__main__":
    main()
