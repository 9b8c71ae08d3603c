"""The log's writer: in batches, in the background, nothing lost but what is counted."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from collections.abc import Sequence

from chunkprep_ingest.errors import UnavailableError
from chunkprep_packer.log_writer import LogWriter
from chunkprep_store import PackRecord


def record(name: str) -> PackRecord:
    return PackRecord(name, 0, 0, "o200k_base", 1, 1, "{}", "{}")


class Sheet:
    """Collects what is written; `fail` names records whose batch is refused."""

    def __init__(self, fail: frozenset[str] = frozenset()) -> None:
        self.batches: list[tuple[str, list[str]]] = []
        self.fail = fail

    def write(self, collection: str, records: Sequence[PackRecord]) -> None:
        names = [one.request_id for one in records]
        if self.fail.intersection(names):
            raise OSError("refused")
        self.batches.append((collection, names))

    def names(self) -> list[str]:
        return [name for _, names in self.batches for name in names]


def test_everything_is_written_in_order_by_flush() -> None:
    sheet = Sheet()
    writer = LogWriter(sheet.write, batch=10, interval=60)
    for n in range(95):
        assert writer.put("a", record(str(n)))
    writer.flush()
    assert sheet.names() == [str(n) for n in range(95)]
    assert max(len(names) for _, names in sheet.batches) <= 10
    writer.close()


def test_close_writes_what_waits_by_collection() -> None:
    sheet = Sheet()
    writer = LogWriter(sheet.write, interval=60)
    for n in range(6):
        writer.put("even" if n % 2 == 0 else "odd", record(str(n)))
    writer.close()
    assert sorted(sheet.batches) == [("even", ["0", "2", "4"]), ("odd", ["1", "3", "5"])]
    writer.close()
    assert not writer.put("a", record("late"))
    assert writer.take_lost() == 1


def test_a_full_queue_is_waited_with_before_anything_is_lost() -> None:
    gate, sheet = threading.Event(), Sheet()

    def slow(collection: str, records: Sequence[PackRecord]) -> None:
        gate.wait()
        sheet.write(collection, records)

    writer = LogWriter(slow, capacity=2, interval=0, patience=60)
    assert writer.put("a", record("0"))
    assert not writer.full
    assert writer.put("a", record("1"))
    assert writer.full
    threading.Timer(0.05, gate.set).start()
    assert writer.put("a", record("2"))
    assert gate.is_set()
    writer.close()
    assert (sheet.names(), writer.losses) == (["0", "1", "2"], 0)


def test_what_overflows_is_counted_once() -> None:
    gate, sheet = threading.Event(), Sheet()

    def slow(collection: str, records: Sequence[PackRecord]) -> None:
        gate.wait()
        sheet.write(collection, records)

    writer = LogWriter(slow, capacity=5, interval=0, patience=0)
    kept = [writer.put("a", record(str(n))) for n in range(8)]
    assert kept == [True] * 5 + [False] * 3
    assert (writer.take_lost(), writer.take_lost()) == (3, 0)
    gate.set()
    writer.close()
    assert len(sheet.names()) == 5


def test_one_record_that_is_refused_loses_no_other() -> None:
    sheet = Sheet(frozenset({"bad"}))
    writer = LogWriter(sheet.write, interval=60, pauses=(0, 0))
    for name in ("1", "bad", "2"):
        writer.put("a", record(name))
    writer.put("a", record("3"))
    writer.flush()
    assert sheet.names() == ["1", "2", "3"]
    assert writer.take_lost() == 1
    writer.close()


def test_a_write_that_fails_for_a_while_is_tried_again() -> None:
    sheet, tries = Sheet(), iter([OSError("busy"), OSError("busy")])

    def busy(collection: str, records: Sequence[PackRecord]) -> None:
        if error := next(tries, None):
            raise error
        sheet.write(collection, records)

    writer = LogWriter(busy, interval=0, pauses=(0, 0))
    writer.put("a", record("1"))
    writer.close()
    assert (sheet.names(), writer.take_lost()) == (["1"], 0)


def test_while_the_database_is_away_nothing_is_given_up_until_somebody_waits() -> None:
    sheet, tries = Sheet(), iter([UnavailableError("away")] * 50)

    def away(collection: str, records: Sequence[PackRecord]) -> None:
        if error := next(tries, None):
            raise error
        sheet.write(collection, records)
        written.set()

    written = threading.Event()
    writer = LogWriter(away, interval=0, pauses=(0, 0))
    writer.put("a", record("1"))
    assert written.wait(30)
    assert (sheet.names(), writer.take_lost()) == (["1"], 0)
    tries = iter([UnavailableError("away")] * 1_000_000)
    writer.put("a", record("2"))
    writer.flush()
    assert writer.take_lost() == 1
    writer.close()


def test_many_threads_lose_nothing() -> None:
    sheet = Sheet()
    writer = LogWriter(sheet.write, capacity=10_000, batch=7, interval=0.001)

    def work(start: int) -> None:
        for n in range(start, start + 200):
            writer.put("a", record(str(n)))
            if n % 50 == 0:
                writer.flush()

    threads = [threading.Thread(target=work, args=(start,)) for start in range(0, 1_600, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert sorted(map(int, sheet.names())) == list(range(1_600))


def test_a_normal_exit_without_close_writes_what_waits() -> None:
    script = textwrap.dedent(
        """
        from chunkprep_packer.log_writer import LogWriter
        from chunkprep_store import PackRecord
        writer = LogWriter(lambda c, records: print(len(records), flush=True), interval=60)
        for n in range(3):
            writer.put("a", PackRecord(str(n), 0, 0, "", 1, 1, "", ""))
        """
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (run.stdout.strip(), run.stderr) == ("3", "")
