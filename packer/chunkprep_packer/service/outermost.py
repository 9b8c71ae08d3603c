"""Around every request: an id, the body's limit, the clock, a log line, and no stack trace out."""

from __future__ import annotations

import time
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chunkprep_packer.caller import LONGEST_ID, Caller, valid_traceparent
from chunkprep_packer.service.metrics import Metrics
from chunkprep_packer.service.problems import (
    INTERNAL,
    MEDIA_TYPE,
    Problem,
    ProblemError,
    of_error,
    too_large,
)
from chunkprep_packer.service.request_log import trace_of, write_line


class Outermost:
    """ASGI middleware. `scope["state"]` names the request, and its pack, in `request_id`, and says
    in `caller` what its caller calls it.
    """

    def __init__(self, app: ASGIApp, *, body_limit: int, metrics: Metrics) -> None:
        self._app = app
        self._body_limit = body_limit
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        answer = _Answer(send, uuid4().hex)
        caller = _caller(scope)
        scope.setdefault("state", {}).update(request_id=answer.request_id, caller=caller)
        try:
            await self._app(scope, self._limited(scope, receive), answer.send)
        except Exception as error:
            problem = of_error(error)
            ids = {"request_id": answer.request_id, "trace_id": caller.trace_id}
            if problem is INTERNAL:
                write_line("error", **ids, trace=trace_of(error))
            elif problem.status >= 500:  # a database that is away is said in a line, not a stack
                write_line("error", **ids, message=str(error))
            if answer.status is not None:
                raise
            await answer.send_problem(problem)
        finally:
            self._note(scope, answer, time.perf_counter() - begun)

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        """`receive` that ends a body over the limit, whether it tells its length or not."""
        length = _header(scope, b"content-length")
        told = int(length) if length.isdigit() else 0
        got = 0

        async def limited() -> Message:
            nonlocal got
            message = await receive()
            got += len(message.get("body", b""))
            if max(told, got) > self._body_limit:
                raise ProblemError(too_large(self._body_limit))
            return message

        return limited

    def _note(self, scope: Scope, answer: _Answer, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unknown")
        state = scope["state"]
        if answer.status is not None:
            self._metrics.answered(route, answer.status, seconds)
        write_line(
            "request",
            request_id=answer.request_id,
            method=scope["method"],
            path=scope["path"],
            status=answer.status,
            milliseconds=round(seconds * 1000, 2),
            bytes=answer.bytes,
            client=(scope.get("client") or (None,))[0],
            key=state.get("key_id"),
            collection=state.get("collection"),
            caller_id=state["caller"].caller_id,
            trace_id=state["caller"].trace_id,
        )


def _caller(scope: Scope) -> Caller:
    traces = [value.decode("latin-1") for key, value in scope["headers"] if key == b"traceparent"]
    name = _header(scope, b"x-request-id")[:LONGEST_ID]
    return Caller(name or None, valid_traceparent(traces))


def _header(scope: Scope, name: bytes) -> str:
    """A header of the request, "" where it has none; `name` in lower case."""
    found: bytes = next((value for key, value in scope["headers"] if key == name), b"")
    return found.decode("latin-1")


class _Answer:
    """The answer on its way out: its status, its size, and the id in its headers."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self.request_id = request_id
        self.status: int | None = None
        self.bytes = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            named = (b"x-request-id", self.request_id.encode())
            message = {**message, "headers": [*message.get("headers", ()), named]}
        self.bytes += len(message.get("body", b""))
        await self._send(message)

    async def send_problem(self, problem: Problem) -> None:
        body = problem.body(self.request_id)
        headers = {"content-type": MEDIA_TYPE, "content-length": str(len(body)), **problem.headers}
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        start = {"type": "http.response.start", "status": problem.status, "headers": raw}
        await self.send(start)
        await self.send({"type": "http.response.body", "body": body})
