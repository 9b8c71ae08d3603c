"""The audit: its checks, each a function that yields findings."""

from chunkprep_store.audit.findings import CHECKS, Finding
from chunkprep_store.audit.prices import Counters
from chunkprep_store.audit.run import AuditRequest, audit
from chunkprep_store.audit.sources import Sources, UnreadSource

__all__ = ["CHECKS", "AuditRequest", "Counters", "Finding", "Sources", "UnreadSource", "audit"]
