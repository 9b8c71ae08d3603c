"""The packer's public door: what it offers, and how little it loads."""

from __future__ import annotations

import chunkprep_packer

PUBLIC = {
    "Block", "Candidate", "Comparison", "Decision", "Figures", "Label", "LogFigures", "PackLog",
    "PackOptions", "PackRequest", "PackResult", "Packer", "PinText", "PlainChunk", "Proof",
    "Replayed", "Replayer", "Signature", "SlotTerms", "SpanScore", "Totals", "Truncation",
    "log_figures", "pack", "read_labels", "score_spans", "signatures", "slot", "slot_terms",
    "total",
}  # fmt: skip


def test_the_public_names_are_these() -> None:
    assert set(chunkprep_packer.__all__) == PUBLIC
    assert all(hasattr(chunkprep_packer, name) for name in PUBLIC)


def test_every_public_name_says_what_it_is_for() -> None:
    assert [n for n in PUBLIC if not (getattr(chunkprep_packer, n).__doc__ or "").strip()] == []
