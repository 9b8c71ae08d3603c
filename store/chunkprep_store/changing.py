"""What changes a store. Each method is one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from chunkprep_ingest.model import Moment, PreparedVersion
from chunkprep_store import (
    lifecycle,
    packlog_writing,
    recutting,
    restoring,
    runs,
    setting,
    writing,
    writing_new,
)
from chunkprep_store import prices as further_prices
from chunkprep_store.adding import WriteOutcome
from chunkprep_store.collection import ensure_collection
from chunkprep_store.lifecycle import By, Decided
from chunkprep_store.opened import Opened
from chunkprep_store.packlog import PackRecord
from chunkprep_store.prices import FurtherPrice


class Changing(Opened):
    """Writing versions, decisions, runs, failures and the log of packs."""

    def write_version(
        self, collection: str, prepared: PreparedVersion, *, now: Moment, run_id: str | None = None
    ) -> WriteOutcome:
        """Store a prepared version in one transaction (laws 7 and 8).

        Raises MetadataError where its `supersedes` closes a cycle, ConflictError where other
        writers kept colliding.
        """
        return self.database.retry(
            lambda c: writing.write_version(c, collection, prepared, now, run_id)
        )

    def write_new(
        self,
        collection: str,
        prepared: Sequence[PreparedVersion],
        *,
        now: Moment,
        run_id: str | None = None,
    ) -> list[WriteOutcome]:
        """Store those of the prepared versions whose documents are not here yet and which
        supersede no other, all in one transaction; the others are left to `write_version`.

        Where it raises, none was written.
        """
        made = writing_new.parcels(collection, prepared)
        if not made:
            return []
        return self.database.retry(
            lambda c: writing_new.write_new(c, collection, made, now, run_id)
        )

    def recut(
        self,
        collection: str,
        prepared: PreparedVersion,
        *,
        version: int,
        now: Moment,
        run_id: str | None = None,
    ) -> WriteOutcome:
        """Store the text of a version in other chunks, as a version that inherits all that was
        decided of it: what is in force stays so. Of `prepared` metadata and source are ignored.
        """
        return self._change(
            collection,
            lambda c, n: recutting.recut(c, collection, n, prepared, version, now, run_id),
        )

    def supersede(
        self, collection: str, old: str, new: str, *, now: Moment, reason: str | None = None
    ) -> Decided:
        """Let document `new` supersede `old`: from the date that `new` is valid from, where it
        names one, else from now. Raises MetadataError (bad_metadata) for a cycle.
        """
        return self._change(
            collection, lambda c, n: lifecycle.supersede(c, n, old, new, now, reason)
        )

    def withdraw(
        self,
        collection: str,
        document: str,
        *,
        now: Moment,
        reason: str | None = None,
        by: By = "hand",
    ) -> Decided:
        """Take a document out of force from now on; what it was to supersede from a day still to
        come is open again (`moved`). What `by` "sync" withdrew revives when it is
        written again, what was withdrawn by "hand" stays so until `restore`.
        """
        return self._change(
            collection, lambda c, n: lifecycle.withdraw(c, n, document, now, reason, by)
        )

    def restore(
        self,
        collection: str,
        document: str,
        *,
        version: int | None = None,
        now: Moment,
        reason: str | None = None,
    ) -> Decided:
        """A new version with the content of an old one (default: the one that stands for the
        document), in force from now on, until a document takes over that supersedes it; it holds
        until the source's bytes change. Of an erased document the tombstone goes (version 0 is
        returned). Raises RequestError where another document declares that it supersedes it.
        """
        return self._change(
            collection,
            lambda c, n: restoring.restore(c, collection, n, document, version, now, reason),
        )

    def set_metadata(
        self,
        collection: str,
        document: str,
        fields: Mapping[str, object],
        *,
        now: Moment,
        reason: str | None = None,
    ) -> Decided:
        """Set metadata fields over what the source says. They hold for later versions too, until
        they are set again or the source says something else of the same field.
        """
        return self._change(
            collection,
            lambda c, n: setting.set_metadata(c, collection, n, document, fields, now, reason),
        )

    def start_run(
        self,
        collection: str,
        *,
        now: Moment,
        kind: str = "ingest",
        settings: Mapping[str, object] | None = None,
        run_id: str | None = None,
        flow_run_id: str | None = None,
    ) -> str:
        """Record that a run began, of Prefect's flow run where there is one; returns its id."""

        def work(connection: sa.Connection) -> str:
            number = ensure_collection(connection, collection, now)
            return runs.start_run(
                connection, number, kind, now, settings or {}, run_id, flow_run_id
            )

        return self.database.retry(work)

    def finish_run(
        self, run_id: str, *, now: Moment, summary: Mapping[str, object], once: bool = False
    ) -> None:
        """Record how a run ended; with `once` only where nothing is recorded of that yet."""
        self.database.retry(lambda c: runs.finish_run(c, run_id, now, summary, once=once))

    def record_failure(
        self,
        collection: str,
        document: str,
        *,
        uri: str,
        code: str,
        message: str,
        remedy: str,
        now: Moment,
        attempt_key: str | None = None,
        run_id: str | None = None,
    ) -> int:
        """Record that a document could not be ingested; returns how often the attempt with
        this key failed.

        The last good version stays as it is; success forgets the failure.
        """

        def work(connection: sa.Connection) -> int:
            return runs.record_failure(
                connection,
                ensure_collection(connection, collection, now),
                document,
                uri=uri,
                code=code,
                message=message,
                remedy=remedy,
                attempt_key=attempt_key,
                now=now,
                run_id=run_id,
            )

        return self.database.retry(work)

    def forget_failure(self, collection: str, document: str) -> None:
        """Drop a failure whose source is gone."""
        self._change(collection, lambda c, n: runs.forget_failure(c, n, document))

    def write_packs(self, collection: str, records: Sequence[PackRecord]) -> list[tuple[str, str]]:
        """Write pack records in one transaction. One that is there already is left as it is;
        another one whose request id is taken gets a further id: returns these, asked and stored.
        """
        return self._change(collection, lambda c, n: packlog_writing.write_packs(c, n, records))

    def put_prices(
        self, collection: str, encoding: str, profile: str, prices: Sequence[FurtherPrice]
    ) -> int:
        """Store what chunks cost in a further encoding under a profile's fingerprint; returns how
        many of the chunks were still there.
        """
        return self._change(
            collection,
            lambda c, n: further_prices.put_prices(c, n, encoding, profile, prices),
        )
