"""A Prefect API to run flows against: the one that is configured, else a private server.

Prefect's ephemeral server keeps its runs in the user's own ~/.prefect/prefect.db and migrates that
file to its own version. A tool that somebody runs for its documents has no business there, so the
private server gets a database of its own, gone when the process ends: chunkprep's tables are the
record of a run. Whoever wants the runs in Prefect's UI sets PREFECT_API_URL, by environment,
profile or prefect.toml, and then nothing here starts.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

START_TIMEOUT = 180
"""Seconds to wait for the server: 5 to 26 were measured, Prefect's own default of 20 is too few."""

_QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLI_PROMPT": "false",
}


@dataclass(frozen=True, slots=True)
class Session:
    """Where the flow's runs are recorded, and the seconds that it took to get there."""

    api: str
    private: bool
    import_seconds: float
    server_seconds: float


@contextmanager
def prefect_session(
    *, verbose: bool = False, say: Callable[[str], None], schedules: bool = False
) -> Iterator[Session]:
    """Make flows runnable within; `say` hears what is being waited for.

    With `schedules` a private server has Prefect's scheduler too.

    Sets up Prefect's environment before its first import: telemetry off, its log on the terminal
    at WARNING (in the flow run at INFO) unless PREFECT_LOGGING_LEVEL or `verbose` say otherwise,
    and a temporary home where the user has none.
    """
    started = time.perf_counter()
    prepare_environment(verbose=verbose)
    from prefect.settings import PREFECT_API_URL

    imported = time.perf_counter() - started
    configured = PREFECT_API_URL.value()
    if configured:
        yield Session(str(configured), False, imported, 0.0)
        return
    say(
        f"no Prefect API is configured: starting a private one (5 to 30 seconds, at most "
        f"{START_TIMEOUT}){'' if schedules else '; --direct runs without Prefect'}"
    )
    started = time.perf_counter()
    with _scheduling_server() if schedules else _ephemeral_server() as api:
        yield Session(api, True, imported, time.perf_counter() - started)


def prepare_environment(*, verbose: bool) -> None:
    """What Prefect reads from the environment when it is imported."""
    os.environ.update(_QUIET)
    if "PREFECT_LOGGING_LEVEL" not in os.environ and not verbose:
        os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "WARNING")
    if "PREFECT_HOME" not in os.environ and not (Path.home() / ".prefect").exists():
        os.environ["PREFECT_HOME"] = _scratch_folder()


@contextmanager
def _scheduling_server() -> Iterator[str]:
    from prefect.settings import PREFECT_API_URL, PREFECT_SERVER_UI_ENABLED, temporary_settings

    from chunkprep_flows.prefect_server import full_server

    with (
        full_server(Path(_scratch_folder()), timeout=START_TIMEOUT) as api,
        temporary_settings({PREFECT_API_URL: api, PREFECT_SERVER_UI_ENABLED: False}),
    ):
        yield api


@contextmanager
def _ephemeral_server() -> Iterator[str]:
    from prefect.settings import (
        PREFECT_API_URL,
        PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
        PREFECT_LOGGING_TO_API_ENABLED,
        PREFECT_SERVER_UI_ENABLED,
        temporary_settings,
    )

    from chunkprep_flows.prefect_server import small_server

    with (
        small_server(Path(_scratch_folder()), timeout=START_TIMEOUT) as api,
        temporary_settings(
            {
                PREFECT_API_URL: api,
                PREFECT_SERVER_UI_ENABLED: False,
                PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None,  # nobody watches, and its end takes time
                PREFECT_LOGGING_TO_API_ENABLED: False,  # gone before anybody could read the log
            }
        ),
    ):
        yield api


def _scratch_folder() -> str:
    """A folder that is removed when the process ends."""
    folder = tempfile.mkdtemp(prefix="chunkprep-prefect-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
