"""The application, and the process that serves it."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from bagpack._version import __version__
from bagpack.app import finding, pages
from bagpack.app.library import Library
from bagpack.app.pool import FIND, Limits, Pool, UnavailableError, WorkerError
from bagpack.app.rendering import compile_all, render
from bagpack.app.routes import router
from bagpack.app.security import ANYWHERE, HEADERS, Guard, own_names
from bagpack.app.session import Session
from bagpack.errors import BagpackError, StoreError, UsageError

ABOUT = (
    "Every page of the explorer has a twin that gives its content as JSON: put `.json` after the page's path. "
    'Errors are `{"error": "a sentence"}` with a status of 400 or above: 400 for a wrong request, 404 for an unknown '
    "page, model or word, 503 where a limit on time or memory was reached or too many requests are waiting."
)
BACKLOG = 512


def create_app(
    library: Library, opening: tuple[Any, ...], *, host: str = "127.0.0.1", names: tuple[str, ...] = (),
    session: Session | None = None, limits: Limits | None = None,
) -> FastAPI:  # fmt: skip
    """The explorer, answering to the names that belong to `host` and to `names`; workers open what `opening` names."""
    limits = limits or Limits()
    pool = Pool(opening, limits)
    session = session or Session()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        start = asyncio.get_running_loop().create_task
        warming = [start(pool.run(pages.warm_up)) for _ in range(limits.workers)]
        warming.append(start(pool.run(finding.warm_up, session.answers is None, lane=FIND)))
        yield
        for task in warming:
            task.cancel()
        pool.close()
        session.close()

    app = FastAPI(
        title="BagPack explorer", version=__version__, description=ABOUT, docs_url=None, redoc_url=None,
        lifespan=lifespan,
    )  # fmt: skip
    app.state.library, app.state.pool, app.state.session = library, pool, session
    app.include_router(router)
    for path, package in (
        ("/static", ("bagpack.app", "static")),
        ("/style", ("bagpack.report", "templates")),
    ):
        app.mount(path, StaticFiles(packages=[package]))
    for error in (BagpackError, WorkerError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(error, error_response)
    app.add_middleware(
        Guard, names=own_names(host, names), anywhere=host in ANYWHERE, most=limits.body_bytes,
        seconds=limits.transfer_seconds,
    )  # fmt: skip
    return app


async def error_response(request: Request, error: Exception) -> Response:
    """An error as JSON, as a page, or as a part of a page, whichever was asked for."""
    status, sentence = _status(error)
    headers = dict(HEADERS)  # an unexpected error is answered outside of the guard
    if isinstance(error, UnavailableError):
        headers["Retry-After"] = str(error.retry_after)
    if request.url.path.endswith(".json"):
        return JSONResponse({"error": sentence}, status, headers)
    is_part = request.url.path in ("/lines/part", "/find/row")
    template = "error_part.html.j2" if is_part else "error.html.j2"
    return HTMLResponse(render(template, status=status, sentence=sentence), status, headers)


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
            where = ".".join(str(part) for part in first["loc"][1:]) or "the request"
            return 400, f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}"
    return 500, "an unexpected error occurred; the terminal where the explorer runs shows it"


def serve(
    library: Library, opening: tuple[Any, ...], host: str, port: int, *, names: tuple[str, ...] = (),
    session: Session | None = None, limits: Limits | None = None, ready: Callable[[], object] = lambda: None,
) -> None:  # fmt: skip
    """Answer until interrupted; `ready` is called when requests are accepted."""
    import uvicorn

    limits = limits or Limits()
    app = create_app(library, opening, host=host, names=names, session=session, limits=limits)
    compile_all()
    config = uvicorn.Config(
        app, log_level="warning", server_header=False, timeout_graceful_shutdown=2, ws="none", backlog=BACKLOG,
        limit_concurrency=limits.connections, http=bounded_protocol(limits),
    )  # fmt: skip
    with bind(host, port) as listener, suppress(KeyboardInterrupt):  # that is how it is meant to end
        listener.listen(BACKLOG)
        ready()
        sys.stdout.flush()
        uvicorn.Server(config).run([listener])


def bounded_protocol(limits: Limits) -> Any:
    """Uvicorn's protocol, which closes connections that send or read nothing for too long."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class BoundedProtocol(H11Protocol):
        _quiet = 0.0
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._look()

        def _look(self) -> None:
            """Every second: how long nothing has been answered, or an answer has not been read."""
            answering = self.cycle is not None and not self.cycle.response_complete
            blocked = self.flow.write_paused
            self._quiet = self._quiet + 1 if blocked or not answering else 0
            if self._quiet > (limits.transfer_seconds if blocked else limits.head_seconds):
                self.transport.abort()
            else:
                self._timer = self.loop.call_later(1, self._look)

        def connection_lost(self, exc: Exception | None) -> None:
            if self._timer is not None:
                self._timer.cancel()
            super().connection_lost(exc)

        def send_400_response(self, msg: str) -> None:
            head = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
            text = f"{msg}\n"
            self.transport.write(
                f"HTTP/1.1 400 Bad Request\r\n{head}Content-Type: text/plain\r\nConnection: close\r\n"
                f"Content-Length: {len(text)}\r\n\r\n{text}".encode()
            )
            self.transport.close()

    return BoundedProtocol


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
