"""The server: routes behind a guard, errors in sentences, and the process that answers."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from bagpack._version import __version__
from bagpack.app import routes_lines, routes_models, routes_words
from bagpack.app.library import Library
from bagpack.app.limits import TooBusyError, TooLongError, Workers
from bagpack.app.rendering import compile_all, render
from bagpack.app.safety import ANYWHERE, Guard, own_names
from bagpack.errors import BagpackError, StoreError

DEFAULT_PORT = 8765
ABOUT = (
    "Every page of the explorer has a twin that gives its content as JSON: put `.json` after the page's path. "
    'Problems come as `{"error": "a sentence"}` with a status of 400 or above.'
)


def create_app(library: Library, host: str = "127.0.0.1", names: tuple[str, ...] = ()) -> FastAPI:
    """The explorer over what is loaded, answering to the names that belong to `host` and to `names`."""
    workers = Workers(library.limits)

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
    for routes in (routes_words, routes_lines, routes_models):
        app.include_router(routes.router)
    app.add_exception_handler(BagpackError, _tell_error)
    app.add_exception_handler(HTTPException, _tell_error)
    app.add_exception_handler(RequestValidationError, _tell_error)
    app.add_exception_handler(Exception, _tell_error)
    app.add_middleware(
        Guard,
        names=own_names(host, names),
        anywhere=host in ANYWHERE,
        upload_bytes=library.limits.upload_bytes,
    )
    return app


async def _tell_error(request: Request, error: Exception) -> Response:
    status, sentence = _status(error)
    if request.url.path.endswith(".json"):
        return JSONResponse({"error": sentence}, status)
    if request.query_params.get("part"):
        return HTMLResponse(render("error_part.html.j2", sentence=sentence), status)
    return HTMLResponse(render("error.html.j2", status=status, sentence=sentence), status)


def _status(error: Exception) -> tuple[int, str]:
    if isinstance(error, TooLongError | TooBusyError):
        return 503, str(error)
    if isinstance(error, StoreError):
        return 404, str(error)
    if isinstance(error, BagpackError):
        return 400, str(error)
    if isinstance(error, HTTPException):
        missing = "there is no such page" if error.detail == "Not Found" else str(error.detail)
        return error.status_code, missing
    if isinstance(error, RequestValidationError):
        first: dict[str, Any] = dict(error.errors()[0])
        where = ".".join(str(part) for part in first["loc"][1:]) or "the request"
        return 400, f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}"
    return 500, "something unforeseen went wrong; the terminal where the explorer runs says what"


def serve(
    library: Library, host: str = "127.0.0.1", port: int = DEFAULT_PORT, names: tuple[str, ...] = ()
) -> None:
    """Answer until interrupted."""
    import uvicorn

    app = create_app(library, host, names)
    compile_all()
    # What is loaded by now stays: the collector need not walk through it again and again while visitors wait.
    gc.collect()
    gc.freeze()
    with suppress(KeyboardInterrupt):  # that is how it is meant to end
        uvicorn.run(
            app, host=host, port=port, log_level="warning", server_header=False, timeout_graceful_shutdown=2
        )
