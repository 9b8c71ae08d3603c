"""The store: documents, versions, chunks and their whole history in SQLite or PostgreSQL."""

from chunkprep_store.adding import WriteOutcome
from chunkprep_store.audit import CHECKS, Finding, Sources, UnreadSource
from chunkprep_store.changes import Change
from chunkprep_store.collection import StoredProfile
from chunkprep_store.documents import HistoryEntry, VersionInfo
from chunkprep_store.erase import Erased
from chunkprep_store.known_documents import KnownDocument
from chunkprep_store.lifecycle import Decided
from chunkprep_store.lookup import Lookup
from chunkprep_store.packlog import Impact, PackedChunk, PackRecord
from chunkprep_store.packlog_listing import PackLine, PackQuery
from chunkprep_store.prices import FurtherPrice
from chunkprep_store.prune import Pruned
from chunkprep_store.reading import Snapshot
from chunkprep_store.runs import Failure, Run
from chunkprep_store.schema import SchemaState
from chunkprep_store.search import SearchHit
from chunkprep_store.sizes import DocumentCounts, LargeBlock, SizeCount
from chunkprep_store.store import Store
from chunkprep_store.succession import Moved

__all__ = [
    "CHECKS",
    "Change",
    "Decided",
    "DocumentCounts",
    "Erased",
    "Failure",
    "Finding",
    "FurtherPrice",
    "HistoryEntry",
    "Impact",
    "KnownDocument",
    "LargeBlock",
    "Lookup",
    "Moved",
    "PackLine",
    "PackQuery",
    "PackRecord",
    "PackedChunk",
    "Pruned",
    "Run",
    "SchemaState",
    "SearchHit",
    "SizeCount",
    "Snapshot",
    "Sources",
    "Store",
    "StoredProfile",
    "UnreadSource",
    "VersionInfo",
    "WriteOutcome",
]
