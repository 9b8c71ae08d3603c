"""How documents are split: the policy that chunks depend on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache

from chunkprep_ingest.errors import PolicyError
from chunkprep_ingest.ids import fingerprint

SPLITTER_VERSION = "1"
"""Raise it with every change that can move a chunk's edge."""

MIN_CAP = 16


@dataclass(frozen=True, slots=True)
class Policy:
    """Sizes in tokens of the whole block: header, body and delimiter together.

    `cap` is never exceeded. `target` (default: the cap) is the size that balanced splitting aims
    for at most. A run of text below `minimum` (default: an eighth of the cap) joins its
    neighbour instead of standing alone. `span_sections` lets a chunk hold several sibling
    sections. `header_share` is the part of the cap that a header, and a table's repeated header,
    may take.
    """

    cap: int = 512
    target: int | None = None
    minimum: int | None = None
    span_sections: bool = True
    header_share: float = 0.25

    def __post_init__(self) -> None:
        """Refuse nonsense, naming the smallest number that would work."""
        if self.cap < MIN_CAP:
            raise PolicyError(
                f"cap {self.cap} leaves no room for a header and text; use at least {MIN_CAP}"
            )
        if not 0 < self.header_share <= 0.5:
            raise PolicyError(f"header_share {self.header_share} must be above 0 and at most 0.5")
        if not self.cap // 4 <= self.target_tokens <= self.cap:
            raise PolicyError(
                f"target {self.target} must lie between {self.cap // 4} (a quarter of the cap) "
                f"and {self.cap} (the cap)"
            )
        if not 0 <= self.minimum_tokens <= self.target_tokens // 2:
            raise PolicyError(
                f"minimum {self.minimum} must lie between 0 and {self.target_tokens // 2} (half "
                f"the target)"
            )

    @property
    def target_tokens(self) -> int:
        """The target in force."""
        return self.cap if self.target is None else self.target

    @property
    def minimum_tokens(self) -> int:
        """The minimum in force."""
        return self.cap // 8 if self.minimum is None else self.minimum

    @property
    def fingerprint(self) -> str:
        """Moves with every setting and with the splitter's version."""
        return _fingerprint(self, SPLITTER_VERSION)


@cache
def _fingerprint(policy: Policy, version: str) -> str:
    settings = json.dumps(asdict(policy), sort_keys=True)
    return fingerprint("policy", version, settings)
