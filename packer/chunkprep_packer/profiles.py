"""The store's profiles by fingerprint, each read once: a profile never changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chunkprep_ingest.counting import Counter
from chunkprep_ingest.template import Template
from chunkprep_packer.render import PARTIAL_NOTE
from chunkprep_store import Store, StoredProfile

CounterOf = Callable[[str], Counter]
"""The tokenizer of an encoding, for texts that are not in the store."""


class Profiles:
    """Templates and the prices that go with them, read from the store when first asked for."""

    def __init__(self, store: Store, counter_of: CounterOf | None = None) -> None:
        self._store = store
        self.counter_of = counter_of or installed
        self._known: dict[str, StoredProfile] = {}
        self._notes: dict[str, int] = {}
        self.templates: dict[str, Template] = {}
        self.ordinal_tokens: dict[str, int] = {}

    def __getitem__(self, fingerprint: str) -> StoredProfile:
        """The profile with this fingerprint."""
        if fingerprint not in self._known:
            self.add(self._store.template(fingerprint))
        return self._known[fingerprint]

    def load(self, fingerprints: Iterable[str]) -> list[StoredProfile]:
        """These profiles, in order of the fingerprint."""
        return [self[fingerprint] for fingerprint in sorted(set(fingerprints))]

    def add(self, profile: StoredProfile) -> StoredProfile:
        """Remember a profile."""
        self._known[profile.fingerprint] = profile
        self.templates[profile.fingerprint] = profile.template
        self.ordinal_tokens[profile.fingerprint] = profile.ordinal_tokens
        return profile

    def note_tokens(self, encoding: str) -> int:
        """What the closing line of a partial set costs, counted once per encoding."""
        if encoding not in self._notes:
            self._notes[encoding] = self.counter_of(encoding).count(PARTIAL_NOTE)
        return self._notes[encoding]


def installed(encoding: str) -> Counter:
    """The counter of an encoding, loaded only when a text must be counted."""
    from chunkprep_ingest.tokens import counter_for

    return counter_for(encoding)


def offline_encodings() -> tuple[str, ...]:
    """The encodings whose vocabularies are installed."""
    from chunkprep_ingest.tokens import OFFLINE_ENCODINGS

    return OFFLINE_ENCODINGS
