"""`bagpack find` and `bagpack teach`."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import Annotated

import typer

from bagpack import console
from bagpack.cli.look import import_server, show_address
from bagpack.cli.options import (
    Among,
    Columns,
    FixedFirst,
    FixedSecond,
    Host,
    Json,
    Label,
    ModelOption,
    Overwrite,
    Page,
    Port,
    Store,
    Where,
    at_work,
    is_silent,
    option,
    parse_columns,
    selected,
)
from bagpack.errors import UsageError

ON_SCREEN, IN_FILES = 20, 500
Pos = Annotated[
    str | None,
    option(metavar="CLASSES", help="noun, name, verb, adjective, other or any; default: as the examples."),
]


def find(
    store: Store,
    examples: Annotated[
        str | None,
        typer.Argument(metavar="EXAMPLES", help="A table with w1, w2 and, optionally, label; - for stdin."),
    ] = None,
    label: Label = None,
    model: ModelOption = None,
    like: Annotated[
        tuple[str, str] | None,
        option("--like", metavar="W1 W2", help="Find pairs like this one, without training."),
    ] = None,
    w1: FixedFirst = None,
    w2: FixedSecond = None,
    pos1: Pos = None,
    pos2: Pos = None,
    among: Among = None,
    known: Annotated[
        str | None, option("--known", metavar="FILE", help="A table of known pairs to exclude.")
    ] = None,
    mark_known: Annotated[
        bool, option("--mark-known", help="Keep examples and known pairs, and mark them.")
    ] = False,
    top: Annotated[
        int | None,
        option("--top", metavar="N", help=f"Number of pairs ({ON_SCREEN}, or {IN_FILES} in a file).", min=1),
    ] = None,
    columns: Columns = "",
    where: Where = None,
    out: Annotated[
        Path | None, option("--out", "-o", metavar="FILE", help="Write .tsv, .csv, .xlsx or .ttl instead.")
    ] = None,
    html: Page = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Find new pairs of a relation in a corpus, each with a sentence."""
    from bagpack.find.ranking import FindOptions, find_pairs
    from bagpack.learn.model_io import load_model
    from bagpack.report.screens import show_found
    from bagpack.sheets import write_table
    from bagpack.sources import open_source
    from bagpack.tasks import read_pairs

    if sum(given is not None for given in (examples, model, like)) != 1:
        raise UsageError("say what to look for: either EXAMPLES, or --model MODEL, or --like W1 W2")
    if out is not None:
        from bagpack.files import check_not_read
        from bagpack.find.export import check_found_file, is_turtle, write_turtle

        check_not_read(out, examples, among, known)
        check_found_file(out, overwrite)
    if top is None:
        top = ON_SCREEN if out is None and html is None else IN_FILES
    options = FindOptions(
        label, w1, w2, pos1, pos2, among, read_pairs(known).pairs if known else (), mark_known, top
    )
    loaded = load_model(model) if model else None
    source = loaded.open_source(selected(store, where)) if loaded else open_source(selected(store, where))
    with at_work(json):
        found = find_pairs(
            source, examples, model=loaded, like=like, columns=parse_columns(columns), options=options
        )
    if out is not None:
        if is_turtle(out):
            write_turtle(out, found.to_dicts(), found.label)
        else:
            write_table(out, found.table())
    if html is not None:
        from bagpack.report.html import render_found, write_page

        write_page(html, render_found(found, selected(store, where)))
    if json:
        console.print_json(found.to_dict())
    elif out is None and html is None:
        show_found(found)
    if not is_silent(json):
        for path in (out, html):
            if path is not None:
                console.print_about(path, console.many(len(found), "pair"))
        for note in found.notes:
            console.print_message(note, "dim")


def teach(
    store: Store,
    examples: Annotated[
        Path,
        typer.Argument(metavar="EXAMPLES", help="A table with w1, w2 and label; answers are added to it."),
    ],
    label: Label = None,
    w1: FixedFirst = None,
    w2: FixedSecond = None,
    among: Among = None,
    annotator: Annotated[
        str | None,
        option("--annotator", metavar="NAME", help="Your name, saved with each answer (default: user name)."),
    ] = None,
    columns: Columns = "",
    where: Where = None,
    host: Host = "127.0.0.1",
    port: Port = 8765,
) -> None:
    """Teach a relation by answering yes or no in the browser.

    Each answer is added to EXAMPLES at once, and the model is retrained in the background.
    """
    import_server()
    from bagpack.app.limits import Limits
    from bagpack.app.queries import warm_up
    from bagpack.app.server import bind
    from bagpack.app.server import serve as answer
    from bagpack.app.state import Library
    from bagpack.find.answers import AnswerFile
    from bagpack.find.ranking import FindOptions
    from bagpack.find.teaching import Teaching
    from bagpack.parallel import stop_workers
    from bagpack.sources import open_source

    source = open_source(selected(store, where))
    bind(host, port).close()  # an error comes before the work
    file = AnswerFile(examples, label, _user() if annotator is None else annotator, parse_columns(columns))
    try:
        options = FindOptions(w1=w1, w2=w2, among=among)
        with at_work(False):
            teaching = Teaching.start(source, file.examples, options)
        stop_workers()  # the explorer forks its own, and must not fork theirs
        library = Library(source, limits=Limits())
        library.teaching = teaching
        warm_up(library)
        for note in teaching.notes:
            console.print_message(note, "dim")

        def announce() -> None:
            what = f"asks about pairs and adds the answers to {examples}"
            address = show_address(host, port, what, "/teach", f"read the corpus and write to {examples}")
            if sys.stdout.isatty():
                import webbrowser

                webbrowser.open(address)

        answer(library, host, port, (), file, announce)
    finally:
        file.close()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""
