"""What failed and which runs there were, as JSON; the rest is chunkprep_packer.stored_json."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from chunkprep_flows.attempts import tried_bytes

if TYPE_CHECKING:
    from chunkprep_store import Failure, Run


def failure_record(failure: Failure) -> dict[str, Any]:
    """One line of `failures --json`."""
    from chunkprep_packer.stored_json import with_iso

    fields = with_iso(asdict(failure))
    tried = fields.pop("attempt_key")
    return {**fields, "bytes_hash": None if tried is None else tried_bytes(tried)}


def run_record(run: Run) -> dict[str, Any]:
    """One run of `report --json`: when, how it ended, and Prefect's flow run; without settings."""
    from chunkprep_packer.stored_json import with_iso

    fields = with_iso(asdict(run))
    return {name: value for name, value in fields.items() if name != "settings"}
