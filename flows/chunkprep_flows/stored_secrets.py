"""What a Prefect server would keep of a run's parameters that it should not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from chunkprep_ingest.remote import is_remote
from chunkprep_ingest.url_secrets import holds_secret, without_secrets


class Located(Protocol):
    """What of a run's settings may hold a password."""

    @property
    def store(self) -> str:
        """A URL of a database."""
        ...

    @property
    def sources(self) -> tuple[str, ...]:
        """Files, folders, globs and URLs."""
        ...


def secret_warnings(settings: Located) -> Iterator[str]:
    """A line for each URL with a password, a token or a signature written out in it."""
    for source in settings.sources:
        if is_remote(source) and holds_secret(source):
            yield (
                f"warning: Prefect stores {without_secrets(source)} with the password or signature "
                f"that is written in it; write ${{NAME}} there, and set NAME where the flow runs"
            )
    if holds_secret(settings.store):
        yield (
            "warning: Prefect stores the password that is written in --store; leave it out, and "
            "set PGPASSWORD, or a ~/.pgpass, where the flow runs"
        )
