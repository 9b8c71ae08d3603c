"""Random lives of a few documents: after every event all laws hold in the store."""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from chunkprep_ingest.errors import ChunkprepError, MetadataError, NotFoundError, RequestError
from chunkprep_ingest.ids import bytes_hash, digest, text_hash
from chunkprep_ingest.lifecycle import in_force
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import Chunk, Element, Fingerprints, ParsedDocument, PreparedVersion
from chunkprep_store import Change, Store

KEYS = st.sampled_from(["a", "b", "c"])
DATES = st.none() | st.integers(-500, 500)


def prepare(document: str, lines: list[str], metadata: dict[str, Any]) -> PreparedVersion:
    """One chunk a line."""
    text = "\n".join(lines)
    found, chunks, start = [], [], 0
    for ordinal, line in enumerate(lines):
        end = start + len(line)
        found.append(Element("paragraph", start, end))
        chunks.append(
            Chunk(
                ordinal, start, end, line, "[H]\n", (), "prose", True, None, 9, 2, 2, (),
                text_hash(line),
            )
        )  # fmt: skip
        start = end + 1
    known = Metadata.model_validate(metadata)
    return PreparedVersion(
        document, document, document, bytes_hash(f"{text}{metadata}".encode()), digest(text), "{}",
        known.model_dump_json(), Fingerprints("r", "p", "f"),
        ParsedDocument(text, tuple(found), "r"), tuple(chunks),
    )  # fmt: skip


class Lives(RuleBasedStateMachine):
    """A store, and a mirror of it that follows the change feed."""

    template: ClassVar[Path | None] = None

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="chunkprep-lives-"))
        path = self.folder / "store.db"
        if Lives.template is not None and Lives.template.exists():
            shutil.copyfile(Lives.template, path)
        self.store = Store.open(f"sqlite:///{path}")
        self.now = self.latest = 0
        self.by_hand: set[str] = set()
        self.cursor = 0
        self.mirror: dict[str, Change] = {}
        self.seen: dict[str, str] = {}
        self.store.start_run("c", now=0)

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    def tick(self, by: int) -> int:
        self.now += by
        self.latest = max(self.latest, self.now) + 50  # a stored moment goes past earlier ones
        return self.now

    @initialize(announced=st.booleans())
    def announce(self, announced: bool) -> None:
        """In half of the lives a document is to be superseded by another one."""
        if announced:
            new = {"valid_from": 400, "supersedes": ["a"]}
            self.store.write_version("c", prepare("a", ["four"], {}), now=self.tick(1))
            self.store.write_version("c", prepare("b", ["four"], new), now=self.tick(1))

    @rule(key=KEYS, draft=st.booleans(), by=st.integers(1, 60))
    def out_and_in_again(self, key: str, draft: bool, by: int) -> None:
        with suppress(ChunkprepError):
            if draft:
                self.store.set_metadata("c", key, {"status": "draft"}, now=self.tick(by))
                self.store.set_metadata("c", key, {"status": "active"}, now=self.tick(by))
            else:
                self.store.withdraw("c", key, now=self.tick(by))
                self.store.restore("c", key, now=self.tick(by))

    @rule(
        key=KEYS,
        words=st.lists(st.sampled_from(["one two", "two three", "four"]), min_size=1, max_size=3),
        metadata=st.fixed_dictionaries(
            {},
            optional={
                "status": st.sampled_from(["active", "draft", "withdrawn"]),
                "valid_from": DATES,
                "valid_to": DATES,
                "edition": st.sampled_from(["1", "2"]),
                "supersedes": st.lists(KEYS, max_size=1),
                "tags": st.sampled_from(["x", "y"]),
            },
        ),
        by=st.integers(-20, 60),
    )
    def write(self, key: str, words: list[str], metadata: dict[str, Any], by: int) -> None:
        with suppress(ValueError, MetadataError):
            self.store.write_version("c", prepare(key, words, metadata), now=self.tick(by))

    @rule(key=KEYS, policy=st.sampled_from(["p", "q"]), by=st.integers(0, 60))
    def recut(self, key: str, policy: str, by: int) -> None:
        now = self.tick(by)
        before = self.in_force_texts()
        for info in self.store.open_versions("c", key, at=now):
            lines = self.store.parsed("c", key, info.version).text.split("\n")
            prepared = replace(prepare(key, lines, {}), fingerprints=Fingerprints("r", policy, "f"))
            self.store.recut("c", prepared, version=info.version, now=now)
        assert self.in_force_texts() == before

    def in_force_texts(self) -> dict[int, list[tuple[str, str]]]:
        return {
            at: [
                (d.document, row.text)
                for d in self.store.documents("c", at=at)
                for row in self.store.chunks("c", d.document, d.version)
            ]
            for at in range(-600, 700, 50)
        }

    @rule(key=KEYS, status=st.sampled_from(["active", "draft", "withdrawn"]))
    def set_status(self, key: str, status: str) -> None:
        with suppress(ChunkprepError):
            self.store.set_metadata("c", key, {"status": status}, now=self.tick(1))

    @rule(key=KEYS, sync=st.booleans(), by=st.integers(0, 60))
    def withdraw(self, key: str, sync: bool, by: int) -> None:
        with suppress(NotFoundError):
            self.store.withdraw("c", key, now=self.tick(by), by="sync" if sync else "hand")

    @rule(key=KEYS, version=st.none() | st.integers(1, 3), by=st.integers(0, 60))
    def restore(self, key: str, version: int | None, by: int) -> None:
        with suppress(NotFoundError, RequestError, MetadataError):
            self.store.restore("c", key, version=version, now=self.tick(by))

    @rule(old=KEYS, new=KEYS, by=st.integers(0, 60))
    def supersede(self, old: str, new: str, by: int) -> None:
        with suppress(NotFoundError, RequestError, MetadataError):
            self.store.supersede("c", old, new, now=self.tick(by))
            self.by_hand.add(old)

    @rule(key=KEYS, start=DATES, end=DATES, by=st.integers(0, 60))
    def set_dates(self, key: str, start: int | None, end: int | None, by: int) -> None:
        with suppress(ChunkprepError):
            fields = {"valid_from": start, "valid_to": end}
            self.store.set_metadata("c", key, fields, now=self.tick(by))

    @rule(by=st.integers(0, 60))
    def prune(self, by: int) -> None:
        now = self.tick(by)
        self.store.prune("c", ended_before=now - 50, now=now)

    @precondition(lambda self: self.now > 100)
    @rule(key=KEYS, by=st.integers(0, 60))
    def erase(self, key: str, by: int) -> None:
        with suppress(NotFoundError):
            self.store.erase("c", key, now=self.tick(by))

    @precondition(lambda self: self.now > 100)
    @rule(key=KEYS, by=st.integers(0, 60))
    def erase_and_write_again(self, key: str, by: int) -> None:
        with suppress(ChunkprepError):
            self.store.erase("c", key, now=self.tick(by))
            self.store.restore("c", key, now=self.tick(by))
            self.store.write_version("c", prepare(key, ["four"], {}), now=self.tick(by))

    @invariant()
    def the_audit_is_clean(self) -> None:
        found = self.store.audit("c", now=self.now)
        assert [f for f in found if f.severity == "error"] == []

    @invariant()
    def one_version_is_in_force_at_most(self) -> None:
        for at in range(-600, 700, 100):
            count: dict[str, int] = defaultdict(int)
            for info in self.store.documents("c", at=at):
                count[info.document] += 1
            assert set(count.values()) <= {1}

    @invariant()
    def a_document_ends_where_one_that_supersedes_it_begins(self) -> None:
        """Of two documents, by what the versions in force say themselves, and of what is to come:
        no overlap, and no end for a document that is not in force then.
        """
        for at in (self.now + 100, self.now + 300, self.now + 600, self.now + 1_000):
            there = {d.document: d for d in self.store.documents("c", at=at)}
            for info in there.values():
                named = Metadata.model_validate_json(info.metadata_json).supersedes
                standing = {d.document: d.status for d in self.store.documents("c")}
                stands = standing[info.document] in ("active", "superseded")
                assert not stands or set(named).isdisjoint(there)
        announced = {
            key
            for d in self.store.documents("c")
            for key in Metadata.model_validate_json(d.metadata_json).supersedes
            if d.status in ("active", "superseded")
        }
        for info in self.store.documents("c"):
            if info.status == "superseded" and info.document not in announced | self.by_hand:
                ends = [e for e in (info.effective_to, info.valid_to) if e is not None]
                assert min(ends) <= self.latest or info.valid_to == min(ends)

    @invariant()
    def the_mirror_equals_the_store_from_now_on(self) -> None:
        for change in self.store.changes("c", self.cursor, 10_000):
            assert change.cursor == self.cursor + 1
            self.cursor = change.cursor
            if change.action == "upsert":
                self.mirror[change.chunk_id] = change
            else:
                self.mirror.pop(change.chunk_id, None)
        for at in (self.now + 100, self.now + 1_000):
            held = {
                c.chunk_id
                for c in self.mirror.values()
                if in_force(str(c.status), c.effective_from, c.effective_to, at)
            }
            there = {
                row.chunk_id
                for d in self.store.documents("c", at=at)
                for row in self.store.chunks("c", d.document, d.version)
            }
            assert held == there


Lives.TestCase.settings = settings(
    max_examples=15,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


class TestLives(Lives.TestCase):  # type: ignore[misc, valid-type]
    """Run by pytest."""

    def setUp(self) -> None:
        if Lives.template is None:
            folder = Path(tempfile.mkdtemp(prefix="chunkprep-template-"))
            Lives.template = folder / "template.db"
            Store.open(f"sqlite:///{Lives.template}").close()
            self.addClassCleanup(shutil.rmtree, folder)


ON = 400


def take(store: Store, how: str, key: str, now: int) -> None:
    """One decision by hand; one that is refused changes nothing."""
    with suppress(ChunkprepError):
        if how == "withdraw":
            store.withdraw("c", key, now=now)
        elif how == "restore":
            store.restore("c", key, now=now)
        else:
            store.set_metadata("c", key, {"status": how}, now=now)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["withdraw", "restore", "draft", "active"]),
            st.sampled_from(["old", "new"]),
            st.integers(1, 200),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_of_two_editions_one_is_in_force_whatever_comes_and_goes(
    events: list[tuple[str, str, int]],
) -> None:
    """An announced edition and the one that it supersedes: never both; one of them, where neither
    is out; the old one, where the new one was taken back before its day.
    """
    now, begun = 2, False
    with (
        tempfile.TemporaryDirectory(prefix="chunkprep-two-") as folder,
        Store.open(f"sqlite:///{folder}/store.db") as store,
    ):
        store.start_run("c", now=0)
        new = {"valid_from": ON, "supersedes": ["old"]}
        store.write_version("c", prepare("old", ["one"], {}), now=1)
        store.write_version("c", prepare("new", ["two"], new), now=2)
        for how, key, by in events:
            last = now + by - 1  # nothing changes between two events but the time
            begun = begun or (last >= ON and "new" in in_force_at(store, last))
            now += by
            take(store, how, key, now)
            status = {d.document: d.status for d in store.documents("c")}
            out = {key for key, s in status.items() if s in ("draft", "withdrawn")}
            for at in {now, now + 1, max(now, ON - 1), max(now, ON), now + 1_000}:
                there = in_force_at(store, at)
                assert len(there) <= 1
                if not out:
                    assert len(there) == 1
                if out == {"new"} and not begun:
                    assert there == {"old"}


def in_force_at(store: Store, at: int) -> set[str]:
    return {d.document for d in store.documents("c", at=at)}
