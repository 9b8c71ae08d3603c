"""The service's clock."""

from __future__ import annotations

import time

from chunkprep_ingest.model import Moment


def now() -> Moment:
    """Microseconds UTC."""
    return time.time_ns() // 1000
