"""Log lines: one JSON object a line on stderr, for requests and for the server's own talk."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Any

import orjson

from chunkprep_ingest.lifecycle import iso
from chunkprep_packer.service.clock import now


def write_line(event: str, **fields: object) -> None:
    """Write one line; None values are left out."""
    known = {name: value for name, value in fields.items() if value is not None}
    line = orjson.dumps({"at": iso(now()), "event": event, **known}, default=str)
    sys.stderr.write(line.decode() + "\n")  # buffered by line: written at once, and whole


def trace_of(error: BaseException) -> str:
    """The error with its stack, for the log only."""
    return "".join(traceback.format_exception(error))


class JsonLines(logging.Formatter):
    """The server's own messages in the same form."""

    def format(self, record: logging.LogRecord) -> str:
        """One JSON object."""
        fields: dict[str, Any] = {
            "at": iso(now()),
            "event": "server",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["trace"] = self.formatException(record.exc_info)
        return orjson.dumps(fields, default=str).decode()


SERVER_LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"lines": {"()": f"{__name__}.JsonLines"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler", "formatter": "lines", "stream": "ext://sys.stderr"
        }
    },
    "loggers": {"uvicorn": {"handlers": ["stderr"], "level": "INFO", "propagate": False}},
}  # fmt: skip
"""uvicorn's `log_config`."""
