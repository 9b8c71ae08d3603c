"""Packing retrieved chunks into a context window: slot, filters, fill, order, log and replay."""

from chunkprep_packer.compare import Comparison, Figures, Totals, total
from chunkprep_packer.log_figures import LogFigures, log_figures
from chunkprep_packer.packer import Packer
from chunkprep_packer.plain import PlainChunk, pack
from chunkprep_packer.replay import Proof, Replayed, Replayer
from chunkprep_packer.request import Candidate, PackOptions, PackRequest, PinText
from chunkprep_packer.result import Block, Decision, PackLog, PackResult, Truncation
from chunkprep_packer.signatures import Signature, signatures
from chunkprep_packer.slot import SlotTerms, slot, slot_terms
from chunkprep_packer.spans import Label, SpanScore, read_labels, score_spans

__all__ = [
    "Block",
    "Candidate",
    "Comparison",
    "Decision",
    "Figures",
    "Label",
    "LogFigures",
    "PackLog",
    "PackOptions",
    "PackRequest",
    "PackResult",
    "Packer",
    "PinText",
    "PlainChunk",
    "Proof",
    "Replayed",
    "Replayer",
    "Signature",
    "SlotTerms",
    "SpanScore",
    "Totals",
    "Truncation",
    "log_figures",
    "pack",
    "read_labels",
    "score_spans",
    "signatures",
    "slot",
    "slot_terms",
    "total",
]
