"""How a run is asked to split: settings of a policy, each left out where it is not asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict

from chunkprep_ingest.policy import HeaderField, Policy, Sharing, WideRows


class SplitSettings(BaseModel):
    """Frozen; sizes in tokens. None is for what the collection was made with
    (`chunkprep_ingest.policy.Policy`, which says what each setting means).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    cap: int | None = None
    target: int | None = None
    minimum: int | None = None
    span_sections: bool | None = None
    header_share: float | None = None
    header_fields: tuple[HeaderField, ...] | None = None
    tables: Sharing | None = None
    code: Sharing | None = None
    repeat_table_header: bool | None = None
    reopen_code_fences: bool | None = None
    wide_rows: WideRows | None = None

    def applied(self, policy: Policy) -> Policy:
        """The policy with what is asked for; another cap forgets the target and the minimum that
        belonged to the one before. Raises PolicyError for what cannot work.
        """
        asked: dict[str, Any] = {
            name: value
            for name in SplitSettings.model_fields
            if (value := getattr(self, name)) is not None
        }
        if self.cap is not None and self.cap != policy.cap:
            asked = {"target": None, "minimum": None, **asked}
        return replace(policy, **asked)
