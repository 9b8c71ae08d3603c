"""What the flows `recount` and `prune` are asked to do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from chunkprep_flows.options import DEFAULT_COLLECTION, DEFAULT_STORE

Days = Annotated[int, Field(ge=0)]


class _Upkeep(BaseModel):
    """Frozen; of one collection."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    store: str = DEFAULT_STORE
    collection: str = DEFAULT_COLLECTION

    def located(self) -> str:
        """The store's URL with no relative path, so that it names one store wherever it is used."""
        file = self.store.removeprefix("sqlite:///")
        return self.store if file == self.store else f"sqlite:///{Path(file).absolute()}"


class RecountSettings(_Upkeep):
    """`encoding`: a tiktoken encoding, or a tokenizer.json's path."""

    encoding: str


class PruneSettings(_Upkeep):
    """Ages in days: of versions since they went out of force, and of pack logs (None: kept)."""

    older_than: Days
    packs: Days | None = None
    even_if_logged: bool = False
