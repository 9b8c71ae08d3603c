"""How much one request may ask for. Each is refused with its number."""

from __future__ import annotations

from dataclasses import dataclass, fields

from chunkprep_ingest.errors import RequestError
from chunkprep_packer.request import PackRequest


@dataclass(frozen=True, slots=True)
class Limits:
    """`body` in bytes; `candidates` (pins count too) and `vector` (numbers) of one pack; `top` of
    one search; `page` of one answer that lists.
    """

    body: int = 16 * 1024 * 1024
    candidates: int = 1000
    vector: int = 8192
    top: int = 1000
    page: int = 1000

    def __post_init__(self) -> None:
        """Refuse limits that let nothing through."""
        for name in (each.name for each in fields(self)):
            if getattr(self, name) < 1:
                raise RequestError(f"limit {name}: must be at least 1", name)


def check_pack(request: PackRequest, limits: Limits) -> None:
    """Raises RequestError, naming the field, for a request over the limits."""
    _check_count("candidates", len(request.candidates), limits.candidates)
    _check_count("pin", len(request.pin) + len(request.pin_text), limits.candidates)
    vectors = (each.vector for each in request.candidates)
    longest = max((len(vector) for vector in vectors if vector is not None), default=0)
    _check_vector("query_vector", len(request.query_vector or ()), limits.vector)
    _check_vector("candidates.vector", longest, limits.vector)


def _check_vector(field: str, length: int, most: int) -> None:
    if length > most:
        raise RequestError(f"{field}: {length} numbers, this service takes {most}", field)


def _check_count(field: str, count: int, most: int) -> None:
    if count > most:
        raise RequestError(f"{field}: {count} of them, this service takes {most}", field)
