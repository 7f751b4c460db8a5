"""`bagpack serve`."""

from __future__ import annotations

from typing import Annotated

from bagpack import console
from bagpack.cli.declaration import advanced, common
from bagpack.cli.option_groups import SubcorpusOptions
from bagpack.cli.options import AnyStore, ModelOption, Port, Store
from bagpack.errors import UsageError, import_extra


def serve(
    store: Store,
    subcorpus: SubcorpusOptions,
    model: ModelOption = None,
    data: Annotated[
        list[str] | None, common("--data", metavar="FILE", help="A data set to show; repeatable.")
    ] = None,
    host: Annotated[str, common("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Port = 8765,
    allow_host: Annotated[
        list[str] | None, advanced("--allow-host", help="Accept requests for this host name too; repeatable.")
    ] = None,
    seconds: Annotated[
        float,
        advanced("--seconds", help="Time limit per page, in seconds; six times that for a data set."),
    ] = 10.0,
    any_store: AnyStore = False,
) -> None:
    """Explore a corpus in the browser: words, pairs, concordances, models."""
    import_server()
    from bagpack.app.limits import Limits
    from bagpack.app.queries import warm_up
    from bagpack.app.server import bind
    from bagpack.app.server import serve as answer
    from bagpack.app.state import open_library

    if seconds <= 0:
        raise UsageError(f"--seconds {seconds:g} is too short; give more than 0")
    library = open_library(
        subcorpus.store(store),
        model,
        data or (),
        Limits(seconds=seconds, data_seconds=6 * seconds),
        any_store,
    )
    bind(host, port).close()  # an error comes before the work
    warm_up(library)
    shown = f"shows {library.store_name}"
    answer(library, host, port, tuple(allow_host or ()), ready=lambda: show_address(host, port, shown))


def import_server() -> None:
    """Report what is not installed."""
    for name in ("fastapi", "python_multipart", "uvicorn"):
        import_extra(name, name, "serve", "the explorer")


def show_address(host: str, port: int, what: str, path: str = "") -> str:
    """Print the address to open, and return it."""
    from bagpack.app.middleware import LOCAL

    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}{path}"
    console.print_message(f"{address} {what}; press Ctrl-C to stop")
    if host not in LOCAL:
        console.print_message("anyone who can reach this machine can read the corpus there", "yellow")
    return address
