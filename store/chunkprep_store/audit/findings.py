"""What the audit says, and what it can look for."""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "info"]


class Finding(NamedTuple):
    """One thing found. `document`, `version` and `chunk_id` are None where it concerns none."""

    check: str
    severity: Severity
    document: str | None
    version: int | None
    chunk_id: str | None
    message: str
    remedy: str


REMEDIES = {
    "unreadable": "restore the row named from a backup of the database; without one, "
    "`chunkprep erase` the document, `chunkprep restore` it and ingest it again",
    "active_versions": "ingest the document again, or `chunkprep withdraw` it; if it comes back, "
    "restore the database from a backup",
    "copies": "restore the database from a backup; or, for access, authority, tags and source, set "
    "the field to another value and back (`chunkprep set`), which writes it on every chunk",
    "successors": "ingest the documents again; if it comes back, restore from a backup",
    "effective_ranges": "set valid_from and valid_to of the versions named with `chunkprep set`",
    "expired": "ingest a newer version, or `chunkprep withdraw` the document",
    "not_yet_valid": "nothing to do: it comes into force on its date",
    "review_due": "review the document and set a new review_by",
    "source_unreadable": "check that it exists, and that this user may read it; then audit again",
    "source_changed": "run `chunkprep ingest` on the source",
    "source_missing": "run `chunkprep ingest --sync` on the source, or bring the file back",
    "policy_drift": "run `chunkprep resplit` with the collection's cap",
    "profile_drift": "run `chunkprep recount` or ingest the document again",
    "count_drift": "ingest the document again; prices were changed behind chunkprep's back",
    "cap": "run `chunkprep resplit` with the collection's cap",
    "boundaries": "run `chunkprep resplit`, which records boundaries anew",
    "wholeness": "ingest the document again: its lost or changed chunks are written anew",
    "remade": "run `chunkprep resplit` with another cap and back, which writes each chunk anew, or "
    "restore the database from a backup",
    "change_feed": "compare the ids of what follows the feed (`chunkprep audit --index-ids`), and "
    "restore the database from a backup",
    "low_coverage": "compare the file with `chunkprep chunks`, and convert it to a plainer format",
    "failing": "mend the file as the failure says, then `chunkprep failures --retry`",
    "index_stale": "remove the id from the vector index; follow `chunkprep changes`",
    "index_missing": "add the chunk to the vector index; follow `chunkprep changes`",
    "served_stale": "look at the pack with `chunkprep replay --request`",
    "pack_log": "restore the pack's rows from a backup of the database; `chunkprep impact` and the "
    "report may be wrong about it",
}
"""The remedy of each check; its keys are the checks."""

CHECKS = tuple(REMEDIES)


def finding(
    check: str,
    severity: Severity,
    message: str,
    document: str | None = None,
    version: int | None = None,
    chunk_id: str | None = None,
) -> Finding:
    """A finding with its check's remedy."""
    return Finding(check, severity, document, version, chunk_id, message, REMEDIES[check])
