"""What a service is made of: its store, its limits, and whether it may do without keys."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from ipaddress import ip_address

import orjson

from chunkprep_ingest.errors import RequestError
from chunkprep_packer.service.limits import Limits

THREADS = 8
"""As many as connections to the database stay open: more would open and close them."""
MOST_THREADS = 30
"""A database pool holds 32 connections; the pack log and a pack's own profile need some."""
VARIABLE = "CHUNKPREP_SERVICE_SETTINGS"
"""The environment variable that carries the settings to the worker processes."""


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """`loopback`: only this machine reaches the service, so that it may serve without any key.
    `threads`: how many requests of one worker may wait for the database at a time.
    """

    store: str
    loopback: bool = True
    limits: Limits = field(default_factory=Limits)
    threads: int = THREADS

    def __post_init__(self) -> None:
        """Refuse more threads than there are connections to the database."""
        if not 1 <= self.threads <= MOST_THREADS:
            raise RequestError(f"threads: must be 1 to {MOST_THREADS}", "threads")

    def to_json(self) -> str:
        """The settings as a JSON object."""
        return orjson.dumps(asdict(self)).decode()

    @classmethod
    def from_environment(cls) -> ServiceSettings:
        """What the process that started this worker put into VARIABLE."""
        fields = orjson.loads(os.environ[VARIABLE])
        return cls(**{**fields, "limits": Limits(**fields["limits"])})


def is_loopback(host: str) -> bool:
    """Whether binding to this host reaches no further than this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
