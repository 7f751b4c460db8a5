"""The application, and the process that serves it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from weakref import WeakKeyDictionary

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

from bagpack._version import __version__
from bagpack.app import finding, pages
from bagpack.app.finding import Session
from bagpack.app.library import Library
from bagpack.app.pool import FIND, Limits, Pool, UnavailableError
from bagpack.app.rendering import render
from bagpack.app.routes import router
from bagpack.app.security import ANYWHERE, HEADERS, Guard, own_names
from bagpack.errors import BagpackError, StoreError, UsageError
from bagpack.find.answers import Answers

ABOUT = (
    "Every page of the explorer has a twin that gives its content as JSON: put `.json` after the page's path. "
    'Errors are `{"error": "a sentence"}` with a status of 400 or above: 400 for a wrong request, 404 for an unknown '
    "page, model or word, 503 where a limit on time or memory was reached or too many requests are waiting."
)
BACKLOG, DEFAULT = 512, Limits()


def create_app(
    library: Library, *, host: str = "127.0.0.1", names: tuple[str, ...] = (), answers: Answers | None = None,
    limits: Limits = DEFAULT,
) -> FastAPI:  # fmt: skip
    """The explorer, answering to the names that belong to `host` and to `names`, or the page of `bagpack teach`."""
    pool = Pool(library.opened, limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        start = asyncio.get_running_loop().create_task
        warming = [start(pool.run(pages.warm_up, seconds=limits.find_seconds)) for _ in range(limits.workers)]
        warming.append(start(pool.run(finding.warm_up, answers is None, lane=FIND)))
        yield
        for task in warming:
            task.cancel()
        pool.close()

    app = FastAPI(
        title="BagPack explorer", version=__version__, description=ABOUT, docs_url=None, redoc_url=None,
        lifespan=lifespan,
    )  # fmt: skip
    app.state.library, app.state.pool, app.state.session = library, pool, Session(answers)
    app.include_router(router)
    app.mount("/static", StaticFiles(packages=[("bagpack.app", "static")]))
    app.mount("/style", StaticFiles(packages=[("bagpack.report", "templates")]))
    for error in (BagpackError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(error, error_response)
    app.add_middleware(
        Guard, names=own_names(host, names), anywhere=host in ANYWHERE, most=limits.body_bytes,
        seconds=limits.transfer_seconds,
    )  # fmt: skip
    return app


async def error_response(request: Request, error: Exception) -> Response:
    """An error as JSON or as a page, whichever was asked for."""
    status, sentence = _status(error)
    headers = {"Retry-After": str(error.retry_after)} if isinstance(error, UnavailableError) else None
    if request.url.path.endswith((".json", "/find/row")):
        return JSONResponse({"error": sentence}, status, headers)
    return HTMLResponse(render("error.html.j2", status=status, sentence=sentence), status, headers)


def _status(error: Exception) -> tuple[int, str]:
    match error:
        case UnavailableError():
            return 503, str(error)
        case StoreError():
            return 404, str(error)
        case BagpackError():
            return 400, str(error)
        case HTTPException():
            missing = "there is no such page"
            return error.status_code, missing if error.detail == "Not Found" else str(error.detail)
        case RequestValidationError():
            first: dict[str, Any] = dict(error.errors()[0])
            ours = first.get("ctx", {}).get("error")
            where = ".".join(part for part in first["loc"][1:] if isinstance(part, str)) or "the request"
            said = f"{where}: {first['msg']}"
            return 400, str(ours) if isinstance(ours, BagpackError) else said
    return 500, "an unexpected error occurred; the terminal where the explorer runs shows it"


class Protocol(H11Protocol):
    def send_400_response(self, msg: str) -> None:
        """The answer to what is not HTTP, or has no Host: uvicorn's own has no security headers."""
        lines = ["HTTP/1.1 400 Bad Request", "Connection: close", *map(": ".join, HEADERS.items()), "", msg]
        self.transport.write("\r\n".join(lines).encode())
        self.transport.close()


def serve(
    library: Library, host: str, port: int, *, names: tuple[str, ...] = (), answers: Answers | None = None,
    limits: Limits = DEFAULT, ready: Callable[[], object] = lambda: None,
) -> None:  # fmt: skip
    """Answer until interrupted; `ready` is called when requests are accepted."""
    app = create_app(library, host=host, names=names, answers=answers, limits=limits)
    config = uvicorn.Config(
        app, log_level="warning", server_header=False, timeout_graceful_shutdown=2, ws="none", http=Protocol,
        limit_concurrency=limits.connections, headers=list(HEADERS.items()), timeout_notify=0,
    )  # fmt: skip
    server = uvicorn.Server(config)
    quiet: WeakKeyDictionary[Any, int] = WeakKeyDictionary()

    async def end_quiet_connections() -> None:
        """Every second: close connections on which nothing was asked, or an answer was not read, for too long."""
        connections: set[Any] = server.server_state.connections
        for own in list(connections):
            answering = own.cycle is not None and not own.cycle.response_complete
            blocked = own.flow.write_paused
            quiet[own] = quiet.get(own, 0) + 1 if blocked or not answering else 0
            if quiet[own] > (limits.transfer_seconds if blocked else limits.head_seconds):
                own.transport.abort()

    config.callback_notify = end_quiet_connections
    with bind(host, port) as listener, suppress(KeyboardInterrupt):  # that is how it is meant to end
        ready()
        server.run([listener])


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; an error if it cannot be used."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server((host, port), family=family, backlog=BACKLOG, dualstack_ipv6=both)
    except OSError as error:
        why = (error.strerror or str(error)).partition(" (while")[0]
        raise UsageError(f"cannot listen on {host}:{port}: {why}; choose another --port or --host") from error
