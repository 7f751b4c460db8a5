"""The application, and the process that serves it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.middleware.errors import ServerErrorMiddleware

from bagpack._version import __version__
from bagpack.app.limits import UnavailableError, WorkerError
from bagpack.app.middleware import (
    ANYWHERE,
    BodyLimitMiddleware,
    DisconnectMiddleware,
    HeadMiddleware,
    OriginMiddleware,
    SecurityHeadersMiddleware,
    own_names,
)
from bagpack.app.rendering import compile_all, render
from bagpack.app.routers import ROUTERS
from bagpack.app.state import Library
from bagpack.app.teaching import TeachSession
from bagpack.app.workers import WorkerPool
from bagpack.errors import BagpackError, StoreError, UsageError
from bagpack.find.answers import AnswerFile

ABOUT = (
    "Every page of the explorer has a twin that gives its content as JSON: put `.json` after the page's path. "
    'Errors are `{"error": "a sentence"}` with a status of 400 or above.'
)


def create_app(
    library: Library, host: str = "127.0.0.1", names: tuple[str, ...] = (), answers: AnswerFile | None = None
) -> FastAPI:
    """The explorer over what is loaded, answering to the names that belong to `host` and to `names`.

    `answers` is the file that `bagpack teach` adds to; `library.teaching` has the candidates.
    """
    limits = library.limits
    workers = WorkerPool(library, limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        workers.close()

    app = FastAPI(
        title="BagPack explorer", version=__version__, description=ABOUT, docs_url=None, redoc_url=None,
        lifespan=lifespan,
    )  # fmt: skip
    app.state.library = library
    app.state.workers = workers
    app.state.teaching = None
    if answers is not None and library.teaching is not None:
        app.state.teaching = TeachSession(answers, workers, library.teaching.notes)
    for router in ROUTERS:
        app.include_router(router)
    for error in (BagpackError, WorkerError, HTTPException, RequestValidationError):
        app.add_exception_handler(error, error_response)
    # From the innermost to the outermost.
    app.add_middleware(DisconnectMiddleware)
    app.add_middleware(OriginMiddleware, names=own_names(host, names), anywhere=host in ANYWHERE)
    app.add_middleware(BodyLimitMiddleware, most=limits.body_bytes, seconds=limits.transfer_seconds)
    app.add_middleware(ServerErrorMiddleware, handler=error_response)
    app.add_middleware(HeadMiddleware)
    app.add_middleware(SecurityHeadersMiddleware)
    return app


async def error_response(request: Request, error: Exception) -> Response:
    """An error as JSON, as a page, or as a part of a page, whichever was asked for."""
    status, sentence = _status(error)
    headers = {"Retry-After": str(error.retry_after)} if isinstance(error, UnavailableError) else None
    if request.url.path.endswith(".json"):
        return JSONResponse({"error": sentence}, status, headers)
    template = "error_part.html.j2" if request.query_params.get("part") else "error.html.j2"
    return HTMLResponse(render(template, status=status, sentence=sentence), status, headers)


def _status(error: Exception) -> tuple[int, str]:
    for kind, status in ((UnavailableError, 503), (StoreError, 404), (BagpackError, 400)):
        if isinstance(error, kind):
            return status, str(error)
    if isinstance(error, HTTPException):
        missing = "there is no such page" if error.detail == "Not Found" else str(error.detail)
        return error.status_code, missing
    if isinstance(error, RequestValidationError):
        first: dict[str, Any] = dict(error.errors()[0])
        where = ".".join(str(part) for part in first["loc"][1:]) or "the request"
        return 400, f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}"
    return 500, "an unexpected error occurred; the terminal where the explorer runs shows it"


def serve(
    library: Library, host: str, port: int, names: tuple[str, ...] = (), answers: AnswerFile | None = None,
    ready: Callable[[], object] = lambda: None,
) -> None:  # fmt: skip
    """Answer until interrupted; `ready` is called when requests are accepted."""
    import uvicorn

    from bagpack.app.connections import BACKLOG, bounded_protocol

    app = create_app(library, host, names, answers)
    app.state.workers.start()  # before the web server starts any thread
    compile_all()
    config = uvicorn.Config(
        app, log_level="warning", server_header=False, timeout_graceful_shutdown=2,
        http=bounded_protocol(library.limits), ws="none", backlog=BACKLOG,
    )  # fmt: skip
    with bind(host, port) as listener, suppress(KeyboardInterrupt):  # that is how it is meant to end
        listener.listen(BACKLOG)
        ready()
        uvicorn.Server(config).run([listener])


def bind(host: str, port: int) -> socket.socket:
    """A socket at an address; an error if it cannot be used."""
    opened = None
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        opened = socket.socket(family, socket.SOCK_STREAM)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
    except OSError as error:
        if opened is not None:
            opened.close()
        raise UsageError(
            f"cannot listen on {host}:{port}: {error.strerror or error}; choose another --port or --host"
        ) from error
    return opened
