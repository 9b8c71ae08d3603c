"""What makes two attempts to ingest a file the same, so that none is made for ever."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

from chunkprep_ingest.ids import fingerprint
from chunkprep_ingest.model import Fingerprints

if TYPE_CHECKING:
    from chunkprep_flows.reading import Reading

_CONDITIONS = "+"


def attempt_key(data_hash: str, fingerprints: Fingerprints, beside: str, reading: Reading) -> str:
    """What the outcome of reading a file depends on: its bytes, reader, policy and profile, the
    metadata beside it (`beside`, a digest) and how it is read. The hash of the bytes leads.
    """
    made = (fingerprints.reader, fingerprints.policy, fingerprints.profile)
    rest = fingerprint(*made, beside, *map(str, astuple(reading)))
    return data_hash + _CONDITIONS + rest


def tried_bytes(attempt: str) -> str:
    """The hash of the bytes out of an attempt's key."""
    return attempt.partition(_CONDITIONS)[0]
