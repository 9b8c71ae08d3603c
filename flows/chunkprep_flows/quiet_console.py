"""Prefect's log on the terminal for the runs of a schedule: an exception is a line.

Prefect's logging takes it by the name that the environment gives.
"""

from __future__ import annotations

import logging
import os
from copy import copy

from prefect.logging.handlers import PrefectConsoleHandler

_VARIABLE = "PREFECT_LOGGING_HANDLERS_CONSOLE_CLASS"
_LEVEL = "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"


class QuietConsole(PrefectConsoleHandler):
    """Says in a line what was raised; Prefect's server has the traceback, where it can be told."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        logging.raiseExceptions = False  # that Prefect's server cannot be told goes unsaid

    def emit(self, record: logging.LogRecord) -> None:
        """The record, without the traceback."""
        raised = record.exc_info[1] if record.exc_info else None
        if raised is not None:
            record = copy(record)
            record.msg = f"{record.getMessage()} ({type(raised).__name__}: {raised})"
            record.args = record.exc_info = record.exc_text = None
        super().emit(record)


def quiet_runs() -> None:
    """Processes that are started from here on log that way, where the terminal is quiet here."""
    if os.environ.get(_LEVEL) == "WARNING":
        os.environ.setdefault(_VARIABLE, f"{__name__}.{QuietConsole.__name__}")
