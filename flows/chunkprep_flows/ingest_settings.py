"""What one ingest run is asked to do: the parameters of the flow and of the direct runner."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from chunkprep_flows.named_sources import NAMED_IN_SCHEMA, refuse_blank
from chunkprep_flows.options import DEFAULT_COLLECTION, DEFAULT_STORE
from chunkprep_flows.split_settings import SplitSettings
from chunkprep_ingest.errors import RequestError

Runner = Literal["thread", "process", "dask"]
_SCHEDULER = re.compile(r"([a-z]+://)?([^\s/:@]+|\[[0-9a-fA-F:]+\]):\d{1,5}/?")
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class IngestSettings(SplitSettings):
    """Frozen; a batch holds at most so many documents and bytes; `read_memory` is in MiB for each
    file.

    What `SplitSettings` holds, `encoding` and `template` are None for what the collection was made
    with (o200k_base and markdown for a new one). `template` is a name or a JSON file.
    """

    sources: Annotated[
        tuple[str, ...],
        Field(min_length=1, json_schema_extra=NAMED_IN_SCHEMA),
        AfterValidator(refuse_blank),
    ]
    store: str = DEFAULT_STORE
    collection: str = DEFAULT_COLLECTION
    encoding: str | None = None
    template: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    metadata: str | None = None
    """A rules file that applies to every source, like a folder's chunkprep.yaml."""
    fallback_encoding: str | None = None
    drop_boilerplate: bool = False
    read_seconds: Annotated[float, Field(gt=0)] = 120.0
    read_memory: Annotated[int, Field(ge=1)] = 1536
    mirror: str | None = None
    """The folder that remote sources are downloaded to; None: one in the user's cache."""
    sync: bool = False
    allow_mass_withdraw: bool = False
    retry: bool = False
    dry_run: bool = False
    workers: Annotated[int, Field(ge=1, le=256)] = 1
    runner: Runner = "thread"
    dask_address: str | None = None
    batch_documents: Annotated[int, Field(ge=1)] = 500
    batch_bytes: Annotated[int, Field(ge=1)] = 8_000_000

    @model_validator(mode="after")
    def _address_of_a_scheduler(self) -> Self:
        """Raises RequestError for a Dask address that nobody asks, or that is none."""
        address = self.dask_address
        if address is None:
            return self
        if self.runner != "dask":
            raise RequestError(
                f"--dask-address {address} is for --runner dask, and the runner is {self.runner}; "
                f"give both, or leave it out",
                "dask_address",
            )
        if not _SCHEDULER.fullmatch(address):
            raise RequestError(
                f"--dask-address {address!r} is no address of a Dask scheduler; write "
                f"tcp://HOST:PORT",
                "dask_address",
            )
        return self

    def absolute(self) -> IngestSettings:
        """The same settings for a run that starts in another folder: no relative path is left."""
        file = self.store.removeprefix("sqlite:///")
        template = self.template
        return self.model_copy(
            update={
                "sources": tuple(
                    source if "://" in source else _absolute(source) for source in self.sources
                ),
                "store": self.store if file == self.store else f"sqlite:///{_absolute(file)}",
                "mirror": None if self.mirror is None else _absolute(self.mirror),
                "metadata": None if self.metadata is None else _absolute(self.metadata),
                "template": _absolute(template)
                if template and Path(template).is_file()
                else template,
            }
        )


def refuse_unshared_store(settings: IngestSettings) -> None:
    """Raises RequestError where workers of other machines would each write a SQLite file."""
    address = settings.dask_address
    if settings.runner != "dask" or address is None or not settings.store.startswith("sqlite:"):
        return
    host = urlsplit(address if "://" in address else f"//{address}").hostname
    if host not in _LOOPBACK:
        raise RequestError(
            f"workers of the Dask cluster at {address} cannot share the SQLite file of --store; "
            f"use postgresql://USER@HOST/DATABASE",
            "store",
        )


def _absolute(path: str) -> str:
    return str(Path(path).absolute())
