"""`bagpack serve`."""

from __future__ import annotations

import socket
from typing import Annotated

import typer

from bagpack.cli import console as io
from bagpack.cli import shape
from bagpack.errors import UsageError


def serve(
    store: Annotated[
        str, typer.Argument(help="A store that bagpack index made, or snippets that bagpack fetch did.")
    ],
    model: Annotated[str | None, typer.Option("--model", help="A model that bagpack train made.")] = None,
    data: Annotated[
        list[str] | None, typer.Option("--data", help="A TSV of pairs to offer; repeatable.")
    ] = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="The port to listen on.")] = 8765,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", help="A further name it may be called by; repeatable.")
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", help="A page may take so long.")] = 10.0,
    any_store: Annotated[
        bool, typer.Option("--any-store", help="Use the model with a store other than its own.")
    ] = False,
) -> None:
    """Explore a corpus in the browser: words, pairs, concordances, the model and its reasons."""
    from bagpack.errors import missing_extra

    try:
        import fastapi
        import python_multipart
        import uvicorn
    except ImportError as error:
        raise missing_extra(error.name or "fastapi", "serve", "the explorer") from error
    del fastapi, python_multipart, uvicorn
    from bagpack.app.library import open_library
    from bagpack.app.limits import Limits
    from bagpack.app.safety import LOCAL
    from bagpack.app.server import serve as answer

    if not 1 <= port <= 65535:
        raise UsageError(f"--port {port} is out of range; give 1 to 65535")
    if seconds <= 0:
        raise UsageError(f"--seconds {seconds:g} leaves no time for an answer; give more than 0")
    library = open_library(store, model, data or (), Limits(seconds=seconds), any_store)
    _check_free(host, port)
    library.warm_up()
    shown = f"[{host}]" if ":" in host else host
    screen = io.messages()
    screen.print(f"http://{shown}:{port} shows {library.source.path.name}; Ctrl-C ends it", markup=False)
    if host not in LOCAL:
        screen.print("[yellow]anyone who can reach this machine can read the corpus there[/yellow]")
    answer(library, host, port, tuple(allow_host or ()))


def _check_free(host: str, port: int) -> None:
    """Say in a sentence that an address cannot be had, before anything is loaded for it."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}:{port}: {error.strerror or error}; choose another --port or --host"
        ) from error


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    shape.add(app, shape.REASONS, serve)
