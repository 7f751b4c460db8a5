"""`bagpack contexts` and `bagpack serve`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from bagpack import console
from bagpack.cli import options as opt
from bagpack.errors import UsageError, import_extra

if TYPE_CHECKING:
    from bagpack.find.answers import Answers


def contexts(
    store: opt.Store,
    w1: opt.FirstWord,
    w2: opt.MaybeSecondWord = None,
    limit: opt.Limit = "5000",
    by: Annotated[str | None, opt.value("ATTRIBUTE", "Count by an attribute: genre, year, year:10.")] = None,
    where: opt.Where = None,
    json: opt.Json = False,
    csv: Annotated[bool, opt.flag("--csv", "Write CSV to standard output.")] = False,
) -> None:
    """Show the sentences in which a word or a pair of words occurs."""
    from bagpack.contexts.concordance import Concordance
    from bagpack.contexts.windows import parse_limit
    from bagpack.corpus.corpus import Corpus
    from bagpack.explain.distribution import Distribution, count_by
    from bagpack.report.screens import show_distribution, show_lines
    from bagpack.sources import open_source

    if json and csv:
        raise UsageError("--json and --csv both write to standard output; give one of the two")
    source = open_source(opt.selected(store, where))
    found: Concordance | Distribution
    if by is None:
        found = source.contexts(w1, w2, limit=parse_limit(limit))
    elif isinstance(source, Corpus):
        found = count_by(source, [w1] if w2 is None else [w1, w2], by)
    else:
        raise UsageError(f"--by counts in a store, and {source.name} holds snippets; name a store")
    if json:
        console.print_json(found.to_dict())
        return
    if csv:
        console.write(found.to_csv())
    elif isinstance(found, Distribution):
        show_distribution(found)
    else:
        show_lines(found)
    if isinstance(found, Concordance):
        console.print_message(found.note, "dim")
    opt.hint_words(source, found.unknown)


def serve(
    store: opt.Store,
    model: opt.ModelOption = None,
    where: opt.Where = None,
    host: opt.Host = "127.0.0.1",
    port: opt.Port = 8765,
    allow_host: Annotated[list[str] | None, opt.value("NAME", "Accept this host name too.")] = None,
) -> None:
    """Explore a corpus and find pairs in the browser."""
    run_server(opt.selected(store, where), model, host, port, names=tuple(allow_host or ()))


def import_server() -> None:
    """Report what is not installed."""
    for name in ("fastapi", "pebble", "python_multipart", "uvicorn"):
        import_extra(name, name, "serve", "the explorer")


def run_server(
    store: str, model: str | None, host: str, port: int, what: str = "", *, answers: Answers | None = None,
    names: tuple[str, ...] = (), path: str = "",
) -> None:  # fmt: skip
    """Serve the pages until interrupted; the address is printed, and opened in a browser from a terminal."""
    import_server()
    from bagpack.app.library import Library
    from bagpack.app.security import LOCAL
    from bagpack.app.server import bind, serve

    library = Library(store, model)
    bind(host, port).close()  # an error comes before the work
    address = address_of(host, port) + path

    def announce() -> None:
        console.print_message(f"{address} {what or f'shows {library.store_name}'}; press Ctrl-C to stop")
        if host not in LOCAL:
            can = f"read the corpus and write to {answers.path.name}" if answers else "read the corpus"
            console.print_message(f"anyone who can reach this machine can {can} there", "yellow")
        if path and sys.stdout.isatty():
            import webbrowser

            webbrowser.open(address)

    serve(library, host, port, names=names, answers=answers, ready=announce)


def address_of(host: str, port: int) -> str:
    """The address to open: a server that listens everywhere answers to the names of this machine."""
    from bagpack.app.security import ANYWHERE

    name = "localhost" if host in ANYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"
