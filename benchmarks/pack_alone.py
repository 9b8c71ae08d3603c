"""One process that packs the requests of a file, as fast as it can: JSON in, JSON out, the pack log
written by the end. Prints packs a second and the milliseconds of processor time that each took.
`bench_serve.py` runs it.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from chunkprep_packer import Packer, PackRequest

WARM_UP = 50
CATCH_UP = 400
"""Packs between two waits for the log: packing and writing in turn takes less than both at once."""


def main(store: str, bodies: str, seconds: str) -> None:
    """Pack for so many seconds, beginning anywhere in the file."""
    lines = Path(bodies).read_bytes().splitlines()
    random.shuffle(lines)
    with Packer.open(store) as packer:
        for line in lines[:WARM_UP]:
            packer.pack(PackRequest.from_json(line))
        packer.flush()
        done, begun, worked = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - begun < float(seconds):
            packer.answer(PackRequest.from_json(lines[done % len(lines)])).to_json()
            done += 1
            if done % CATCH_UP == 0:
                packer.flush()
        packer.flush()
        rate = done / (time.perf_counter() - begun)
        if packer.log_losses:
            raise SystemExit(f"{packer.log_losses} packs were not logged, so this is no measure")
        work = (time.process_time() - worked) / done
    print(rate, work * 1_000)


if __name__ == "__main__":
    main(*sys.argv[1:])
