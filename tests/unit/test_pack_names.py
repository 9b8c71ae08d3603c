"""The names of packs: what may be one, and what is told of those that were taken."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, cast

import pytest

from chunkprep_ingest.errors import RequestError
from chunkprep_packer.pack_names import NamedWrites, pack_name
from chunkprep_store import PackRecord, Store

THREADS = 8
ROUNDS = 300


class Renaming:
    """A log in which every name is taken."""

    def write_packs(
        self, collection: str, records: Sequence[PackRecord]
    ) -> Sequence[tuple[str, str]]:
        del records
        return [(collection, f"{collection}~1")]


@pytest.mark.parametrize("name", [".", "..", "", " ", "a\nb", "x" * 201, 5])
def test_what_nobody_could_ask_for_is_no_name(name: Any) -> None:
    with pytest.raises(RequestError, match=r"^request_id: "):
        pack_name(name)


def test_a_slash_is_part_of_a_name() -> None:
    assert pack_name("order/42") == "order/42"


def test_threads_that_ask_at_once_are_told_of_every_name_once() -> None:
    names = NamedWrites(cast(Store, Renaming()))
    told: list[str] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(ROUNDS):
                names.write("order", [])
                if warning := names.take_warning():
                    told.append(warning)
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if last := names.take_warning():
        told.append(last)
    assert failed == []
    others = sum(int(one.partition(", and ")[2].partition(" ")[0] or 0) for one in told)
    assert len(told) + others == THREADS * ROUNDS
    assert names.take_warning() is None
