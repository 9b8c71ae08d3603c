"""API keys: how they look, how a token is recognised, and what a key allows.

A secret is 256 random bits, so that its SHA-256 is as good as a slow hash: no dictionary of
guesses is shorter than the whole space. (Slow hashes are for passwords, which people choose.)
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from chunkprep_ingest.model import Moment
from chunkprep_store.keys import ApiKey, Role

PREFIX = "chunkprep"


class Grant(NamedTuple):
    """What a caller may do. `collections` and `access` (labels): None means all."""

    role: Role
    collections: frozenset[str] | None
    access: frozenset[str] | None
    key_id: str | None = None

    def may_read(self, collection: str) -> bool:
        """Whether the collection is one of the caller's."""
        return self.collections is None or collection in self.collections

    def missing(self, labels: Iterable[str]) -> list[str]:
        """Those of the labels that the caller may not claim."""
        return [] if self.access is None else sorted(set(labels) - self.access)


EVERYTHING = Grant("admin", None, None)
"""What a caller on loopback may do while no key is configured."""


def issue(
    name: str,
    role: Role,
    collections: Sequence[str] | None,
    access: Sequence[str] | None,
    *,
    now: Moment,
) -> tuple[str, ApiKey]:
    """A new token, to be shown once, and the row that recognises it."""
    key_id, secret = secrets.token_hex(6), secrets.token_hex(32)
    owned = None if collections is None else tuple(dict.fromkeys(collections))
    labels = None if access is None else tuple(dict.fromkeys(access))
    key = ApiKey(key_id, name, hash_of(secret), role, owned, labels, now)
    return f"{PREFIX}_{key_id}_{secret}", key


def hash_of(secret: str) -> str:
    """SHA-256 of a secret, in hex."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


_NOBODY = ApiKey("", "", hash_of(""), "read", (), (), 0, 0)


def token_of(authorization: str) -> str:
    """The token in an Authorization header: Bearer's, or Basic's password; else ""."""
    scheme, _, rest = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(rest, validate=True).decode().partition(":")[2]
        except ValueError:  # neither base64 nor UTF-8: no token
            return ""
    return ""


def recognise(token: str, keys: Sequence[ApiKey]) -> Grant | None:
    """What the token's key grants; None for a wrong, unknown or revoked one.

    Its public part finds the row; the secret's hash is compared in constant time, with a row that
    opens nothing where there is none.
    """
    prefix, _, rest = token.partition("_")
    key_id, _, secret = rest.partition("_")
    key = next((key for key in keys if key.key_id == key_id), _NOBODY)
    same = hmac.compare_digest(key.secret_hash, hash_of(secret))
    if not same or prefix != PREFIX or key.revoked_at is not None:
        return None
    return Grant(key.role, _set(key.collections), _set(key.access), key.key_id)


def _set(names: tuple[str, ...] | None) -> frozenset[str] | None:
    return None if names is None else frozenset(names)
