"""What one audit is asked to do: the parameters of the flow `audit_versions`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from chunkprep_flows.named_sources import NAMED_IN_SCHEMA, refuse_blank
from chunkprep_flows.options import DEFAULT_COLLECTION, DEFAULT_STORE

Level = Literal["info", "warning", "error", "never"]


class AuditSettings(BaseModel):
    """Frozen. `checks` empty is every check that the rest allows; `recount`: "all" chunks, or
    about so many.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    store: str = DEFAULT_STORE
    collection: str = DEFAULT_COLLECTION
    sources: Annotated[
        tuple[str, ...], Field(json_schema_extra=NAMED_IN_SCHEMA), AfterValidator(refuse_blank)
    ] = ()
    """Files, folders, globs and URLs to compare with."""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """As the ingest's: also which mirror of a remote source is used."""
    mirror: str | None = None
    """The folder that remote sources are downloaded to; None: one in the user's cache."""
    index_ids: Path | None = None
    """A file of the chunk ids in a vector index, one a line."""
    recount: Literal["all"] | Annotated[int, Field(ge=1)] | None = None
    checks: tuple[str, ...] = ()
    fail_on: Level = "error"
    """From which severity on the run fails."""

    def absolute(self) -> AuditSettings:
        """The same settings for a run that starts in another folder: no relative path is left."""
        file = self.store.removeprefix("sqlite:///")
        ids = self.index_ids
        return self.model_copy(
            update={
                "store": self.store if file == self.store else f"sqlite:///{_absolute(file)}",
                "sources": tuple(
                    source if "://" in source else str(_absolute(source)) for source in self.sources
                ),
                "mirror": None if self.mirror is None else str(_absolute(self.mirror)),
                "index_ids": None if ids is None else _absolute(ids),
            }
        )


def _absolute(path: str | Path) -> Path:
    return Path(path).absolute()
