"""What failed, as a JSON object; the rest is chunkprep_packer.stored_json."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from chunkprep_flows.attempts import tried_bytes

if TYPE_CHECKING:
    from chunkprep_store import Failure


def failure_record(failure: Failure) -> dict[str, Any]:
    """One line of `failures --json`."""
    from chunkprep_packer.stored_json import with_iso

    fields = with_iso(asdict(failure))
    tried = fields["bytes_hash"]
    return {**fields, "bytes_hash": None if tried is None else tried_bytes(tried)}
