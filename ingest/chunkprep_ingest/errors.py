"""Every error that chunkprep raises on purpose, as one tree.

ChunkprepError
├── ReadError            a file could not be read; carries a stable code (see READ_CODES)
│   └── MetadataError    front matter, sidecar or folder rules hold a wrong value
├── PolicyError          a splitting policy that cannot work
├── ProfileError         an encoding and template whose prices would not add up
├── IndivisibleError     one character costs more than the cap leaves
├── StoreError           the store refused or is not what it should be
│   ├── SchemaError      the store's schema is older or newer than this program
│   ├── NotFoundError    a collection, document, version, chunk or request that does not exist
│   ├── RejectedError    the database rejected the rows of one document
│   ├── ConflictError    two writers wanted the same thing, and retrying did not settle it
│   ├── DiskError        the database's disk is full or fails, or its file is damaged
│   └── UnavailableError the database does not answer; the same call may work later
│       └── StoreMovedError the SQLite file is not where it was opened any more
├── RequestError         a request that cannot be served as written; names the field
│   ├── SlotError        the window leaves nothing for retrieved text
│   ├── PinsExceedSlot   pinned blocks cost more than the slot
│   └── PinNotInForce    a pinned chunk is not in force at `as_of`
├── SourceAwayError      a remote source does not answer; the same call may work later
└── ServiceError         the HTTP service refused its client (key, size, path), or failed
"""

from __future__ import annotations

KEY_CLASH = "key_clash"
"""The code of files that would be the same document."""

READ_REMEDIES = {
    "unreadable": "check that the path exists and that this user may read it",
    "unsupported_type": "convert it to a supported format, or install the extra that reads it",
    "empty": "the file holds no text; remove it, or restore its content",
    "no_text_layer": "run OCR over the PDF first, or install unstructured's own PDF strategies",
    "needs_password": "save the file without a password",
    "corrupt": "open the file in the program that made it and save it again",
    "bad_encoding": "save the file as UTF-8, or declare its encoding with --fallback-encoding",
    "too_large": "split the file, or raise the size limit",
    "timed_out": "split the file, or raise --read-seconds",
    "out_of_memory": "split the file, or raise --read-memory",
    "low_coverage": "compare the file with `chunkprep chunks`, and convert it to a plainer format",
    "indivisible": "raise --cap; one character alone costs more than the cap leaves",
    "bad_metadata": "correct the value named here and ingest again",
    KEY_CLASH: "rename one, name a folder or glob above both, or give each its --collection",
    "rejected": "run `chunkprep db check`; if the schema is current, report this message",
}
"""The remedy of each stable code of a failure."""

READ_CODES = frozenset(READ_REMEDIES)


class ChunkprepError(Exception):
    """chunkprep could not do what was asked; the message says what to do."""

    code = "error"


class ReadError(ChunkprepError):
    """A file could not be read into elements.

    `code` is one of READ_CODES, `detail` says what and where, `remedy` what to do.
    """

    def __init__(self, code: str, detail: str, remedy: str | None = None) -> None:
        if code not in READ_CODES:
            raise ValueError(f"{code!r} is no failure code; use one of {sorted(READ_CODES)}")
        self.code = code
        self.detail = detail
        self.remedy = remedy or READ_REMEDIES[code]
        super().__init__(f"{code}: {detail}; {self.remedy}")

    def __reduce__(self) -> tuple[type[ReadError], tuple[str, str, str]]:
        """Keep code, detail and remedy across a process border."""
        return type(self), (self.code, self.detail, self.remedy)


class MetadataError(ReadError):
    """Front matter, a sidecar or folder rules hold a value that cannot be used."""

    def __init__(self, code: str, detail: str, remedy: str | None = None) -> None:
        super().__init__(code or "bad_metadata", detail, remedy)


class PolicyError(ChunkprepError):
    """A splitting policy that cannot work; the message names the number that would."""

    code = "bad_policy"


class ProfileError(ChunkprepError):
    """An encoding and template whose block prices would not add up; names the counter-example."""

    code = "bad_profile"


class IndivisibleError(ReadError):
    """One grapheme cluster costs more tokens than the cap leaves for text."""


class StoreError(ChunkprepError):
    """The store refused, or is not what it should be."""

    code = "store"


class SchemaError(StoreError):
    """The store's schema is not the one this program works with; run `chunkprep db upgrade`."""

    code = "schema"


class NotFoundError(StoreError):
    """What was named does not exist in this collection."""

    code = "not_found"


class DiskError(StoreError):
    """The database could not write or read its files: a full disk, a failing one, damage."""


class RejectedError(StoreError):
    """The database rejected the rows of one document; the others are not concerned."""

    code = "rejected"


class ConflictError(StoreError):
    """Concurrent writers kept colliding; run the command again."""

    code = "conflict"


class UnavailableError(StoreError):
    """The database does not answer; the same call may work in a moment."""

    code = "unavailable"


class StoreMovedError(UnavailableError):
    """The SQLite file is not where it was opened any more; put it back, or open the store again."""

    code = "store_moved"


class RequestError(ChunkprepError):
    """A request that cannot be served as written; `field` names the part to change."""

    code = "bad_request"

    def __init__(self, message: str, field: str | None = None) -> None:
        self.field = field
        super().__init__(message)


class SlotError(RequestError):
    """The window leaves less than one token for retrieved text; the message lists every term."""

    code = "no_slot"


class PinsExceedSlot(RequestError):  # noqa: N818 - the contract's name
    """The pinned blocks cost more than the slot."""

    code = "pins_exceed_slot"


class PinNotInForce(RequestError):  # noqa: N818 - the contract's name
    """A pinned chunk is not in force at the time asked for."""

    code = "pin_not_in_force"


class SourceAwayError(ChunkprepError):
    """A remote source does not answer; the same call may work in a moment."""

    code = "source_away"


class ServiceError(ChunkprepError):
    """The HTTP service refused its client, or failed.

    `status` is the answer's HTTP status, `problem` the stable code of its problem details (None
    where it gave none): unauthorized, forbidden, too_large, internal, …
    """

    code = "service"

    def __init__(self, message: str, status: int, problem: str | None = None) -> None:
        self.status = status
        self.problem = problem
        super().__init__(message)

    def __reduce__(self) -> tuple[type[ServiceError], tuple[str, int, str | None]]:
        """Keep status and code across a process border."""
        return type(self), (str(self), self.status, self.problem)
