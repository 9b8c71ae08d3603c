"""What a service is made of: its store, its limits, and whether it may do without keys."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from ipaddress import ip_address

import orjson

from chunkprep_packer.service.limits import Limits

VARIABLE = "CHUNKPREP_SERVICE_SETTINGS"
"""The environment variable that carries the settings to the worker processes."""


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """`loopback`: only this machine reaches the service, so that it may serve without any key."""

    store: str
    loopback: bool = True
    limits: Limits = field(default_factory=Limits)

    def to_json(self) -> str:
        """The settings as a JSON object."""
        return orjson.dumps(asdict(self)).decode()

    @classmethod
    def from_environment(cls) -> ServiceSettings:
        """What the process that started this worker put into VARIABLE."""
        fields = orjson.loads(os.environ[VARIABLE])
        return cls(fields["store"], fields["loopback"], Limits(**fields["limits"]))


def is_loopback(host: str) -> bool:
    """Whether binding to this host reaches no further than this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
