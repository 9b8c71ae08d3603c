"""Which pages the reference has, and what is public in each package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from docs.generate.command_line import command_line
from docs.generate.http_api import http_api
from docs.generate.python_api import Part, package
from docs.generate.source import ROOT
from docs.generate.tables import tables

FOLDER = ROOT / "docs" / "reference"

ALL: tuple[str, ...] = ()
"""Every name of a module's `__all__`."""

PACKER = (
    Part("chunkprep_packer", ALL),
    Part("chunkprep_packer.client", ("Client", "AsyncClient")),
    Part("chunkprep_packer.langchain", ("ChunkprepCompressor",)),
    Part("chunkprep_packer.llamaindex", ("ChunkprepPostprocessor",)),
)
STORE = (Part("chunkprep_store", ALL),)
INGEST = (
    Part(
        "chunkprep_ingest.errors",
        (
            "ChunkprepError", "ReadError", "MetadataError", "PolicyError", "ProfileError",
            "IndivisibleError", "StoreError", "SchemaError", "NotFoundError", "RejectedError",
            "ConflictError", "UnavailableError", "StoreMovedError", "RequestError", "SlotError",
            "PinsExceedSlot", "PinNotInForce", "ServiceError", "READ_REMEDIES",
        ),
    ),
    Part("chunkprep_ingest.readers", ("read", "is_supported", "ReadOptions")),
    Part("chunkprep_ingest.policy", ("Policy",)),
    Part("chunkprep_ingest.template", ("Template",)),
    Part("chunkprep_ingest.counting", ("Counter", "RunningCounter", "is_seam")),
    Part("chunkprep_ingest.tokens", ("counter_for", "OFFLINE_ENCODINGS")),
    Part("chunkprep_ingest.profile", ("Profile", "make_profile")),
    Part("chunkprep_ingest.split", ("split",)),
    Part("chunkprep_ingest.prepare", ("prepare_version",)),
    Part("chunkprep_ingest.metadata", ("Metadata", "parse_metadata")),
    Part(
        "chunkprep_ingest.model",
        (
            "Moment", "Element", "ParsedDocument", "Boundary", "Chunk", "ChunkRow",
            "PreparedVersion",
        ),
    ),
    Part("chunkprep_ingest.lifecycle", ("moment", "iso")),
)  # fmt: skip
FLOWS = (
    Part("chunkprep_flows.ingest_documents", ("ingest_documents", "sync")),
    Part("chunkprep_flows.ingest_settings", ("IngestSettings",)),
    Part("chunkprep_flows.ingest_report", ("IngestReport", "DocumentOutcome")),
    Part("chunkprep_flows.direct", ("ingest_directly",)),
    Part("chunkprep_flows.audit_versions", ("audit_versions",)),
    Part("chunkprep_flows.audit_settings", ("AuditSettings",)),
    Part("chunkprep_flows.audit_report", ("AuditReport", "AuditFailedError")),
    Part("chunkprep_flows.upkeep", ("recount", "prune")),
    Part("chunkprep_flows.upkeep_settings", ("RecountSettings", "PruneSettings")),
    Part("chunkprep_flows.recounting", ("RecountReport",)),
)

PAGES: Mapping[str, Callable[[], str]] = {
    "command-line.md": command_line,
    "chunkprep_packer.md": partial(package, "chunkprep_packer", PACKER),
    "chunkprep_store.md": partial(package, "chunkprep_store", STORE),
    "chunkprep_ingest.md": partial(package, "chunkprep_ingest", INGEST),
    "chunkprep_flows.md": partial(package, "chunkprep_flows", FLOWS),
    "http.md": http_api,
    "tables.md": tables,
}
"""Each page by its file name, and what makes it."""
