"""Prometheus figures. With several workers each writes its own files, and any of them answers for
all (`PROMETHEUS_MULTIPROC_DIR`, which `chunkprep serve` sets).
"""

from __future__ import annotations

import os
import threading
from collections import Counter as Tally
from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from chunkprep_packer.result import PackResult

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_FILLS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


class Metrics:
    """The figures of one worker process."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self._registry = registry
        self._lock = threading.Lock()
        self._losses_told = 0
        self._seconds = Histogram(
            "chunkprep_request_seconds", "Time to answer.", ["route"], buckets=_SECONDS,
            registry=registry,
        )  # fmt: skip
        self._requests = Counter(
            "chunkprep_requests", "Answers by route and status.", ["route", "status"],
            registry=registry,
        )  # fmt: skip
        self._fill = Histogram(
            "chunkprep_pack_fill", "Used tokens as a share of the slot.", buckets=_FILLS,
            registry=registry,
        )  # fmt: skip
        self._skips = Counter(
            "chunkprep_skips", "Candidates skipped, by reason.", ["reason"], registry=registry
        )
        self._truncations = Counter(
            "chunkprep_truncations", "Blocks cut to fit.", registry=registry
        )
        self._floor = Counter(
            "chunkprep_floor_outcomes", "What became of the best eligible candidate.",
            ["rank1"], registry=registry,
        )  # fmt: skip
        self._losses = Counter("chunkprep_log_losses", "Pack log records lost.", registry=registry)

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Note one answer."""
        self._seconds.labels(route).observe(seconds)
        self._requests.labels(route, str(status)).inc()

    def packed(self, result: PackResult) -> None:
        """Note one pack."""
        self._fill.observe(result.log.fill)
        self._floor.labels(result.log.rank1).inc()
        reasons = Tally(d.reason for d in result.decisions if d.reason is not None)
        for reason, count in reasons.items():
            self._skips.labels(reason).inc(count)
        cut = sum(1 for block in result.blocks if block.truncated is not None)
        if cut:
            self._truncations.inc(cut)

    def lost(self, total: int) -> None:
        """Note how many log records this worker has lost since it began."""
        with self._lock:
            more, self._losses_told = total - self._losses_told, max(total, self._losses_told)
        if more > 0:
            self._losses.inc(more)

    def text(self, last_whole: Mapping[str, float]) -> bytes:
        """The figures of all workers, in Prometheus' text form, and of the store: when each
        collection was last ingested whole.
        """
        registry = self._registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry) + generate_latest(_LastWholeGauge(last_whole))


class _LastWholeGauge(Collector):
    """A figure that is the store's, not a worker's: it is not kept, but made for each answer."""

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self._seconds = seconds

    def collect(self) -> Iterator[GaugeMetricFamily]:
        gauge = GaugeMetricFamily(
            "chunkprep_last_whole_ingest_timestamp_seconds",
            "When the ingest ended that last looked at the collection whole; 0: none did.",
            labels=["collection"],
        )
        for collection, seconds in sorted(self._seconds.items()):
            gauge.add_metric([collection], seconds)
        yield gauge
