from __future__ import annotations

import errno
import os
import socket

import pytest
from aiohttp import ClientConnectionError
from botocore.exceptions import (  # type: ignore[import-untyped]
    EndpointConnectionError,
    NoCredentialsError,
)

from chunkprep_ingest.source_trouble import is_passing, reason_of


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def with_status(status: object) -> Exception:
    error = Exception("service")
    error.status_code = status  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError(),
        TimeoutError(),
        OSError(errno.EBUSY, "slow down"),
        EndpointConnectionError(endpoint_url="http://s3"),
        ClientConnectionError(),
        with_status(503),
        with_status("429"),
        caused(OSError("read failed"), ConnectionResetError()),
    ],
)
def test_what_may_be_over_in_a_moment(error: Exception) -> None:
    assert is_passing(error)


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError("no such bucket"),
        PermissionError("403"),
        NoCredentialsError(),
        with_status(404),
        with_status(None),
        ValueError("a wrong name"),
    ],
)
def test_what_will_not_be(error: Exception) -> None:
    assert not is_passing(error)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (caused(FileNotFoundError("http://h/x"), with_status(404)), "HTTP 404 Not Found"),
        (with_status("503"), "HTTP 503 Service Unavailable"),
        (with_status(599), "HTTP 599"),
        (
            caused(
                OSError(errno.ECONNREFUSED, "Connect call failed"),
                ConnectionRefusedError(errno.ECONNREFUSED, "said otherwise"),
            ),
            os.strerror(errno.ECONNREFUSED),
        ),
        (
            caused(FileNotFoundError("http://h/x"), socket.gaierror(-2, "Name not known")),
            "Name not known",
        ),
        (with_status(200), None),
        (ValueError("http://h/x"), None),
    ],
)
def test_the_reason_is_the_status_or_what_the_system_says(
    error: Exception, reason: str | None
) -> None:
    assert reason_of(error) == reason
