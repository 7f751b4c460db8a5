"""`bagpack find` and `bagpack teach`."""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bagpack import console
from bagpack.cli.look import import_server
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

if TYPE_CHECKING:
    from bagpack.find.examples import Examples

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
    top: Annotated[
        int | None,
        option("--top", metavar="N", help=f"Number of pairs ({ON_SCREEN}, or {IN_FILES} in a file).", min=1),
    ] = None,
    explain: Annotated[
        int, option("--explain", metavar="N", help="Add the reasons of the first N pairs.", min=0)
    ] = 0,
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
    from bagpack.find import FindOptions, find_pairs
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
        label,
        w1,
        w2,
        pos1,
        pos2,
        among,
        read_pairs(known).pairs if known else (),
        top,
        explain=explain,
    )
    loaded = load_model(model) if model else None
    source = loaded.open_source(selected(store, where)) if loaded else open_source(selected(store, where))
    with at_work(json):
        given, notes = _examples(examples, label, columns)
        found = find_pairs(source, given, model=loaded, like=like, options=options)
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
        for note in (*notes, *found.notes):
            console.print_message(note, "dim")


def _examples(path: str | None, label: str | None, columns: str) -> tuple[Examples | None, list[str]]:
    """The examples of a file together with the answers of `bagpack teach` about them, and a note about these."""
    from bagpack.find.answers import answers_path, read_answers, with_answers
    from bagpack.find.examples import read_examples

    if path is None:
        return None, []
    examples = read_examples(path, label, parse_columns(columns))
    answers = answers_path(path)
    given = {} if path == "-" or answers == Path(os.path.realpath(path)) else read_answers(answers)
    notes = [f"with {console.many(len(given), 'answer')} of {answers.name}"] if given else []
    return with_answers(examples, given), notes


def teach(
    store: Store,
    examples: Annotated[
        Path,
        typer.Argument(metavar="EXAMPLES", help="A table with w1, w2 and, optionally, label."),
    ],
    label: Label = None,
    annotator: Annotated[
        str | None,
        option("--annotator", metavar="NAME", help="Your name, saved with each answer (default: user name)."),
    ] = None,
    columns: Columns = "",
    where: Where = None,
    host: Host = "127.0.0.1",
    port: Port = 8765,
) -> None:
    """Find pairs and mark them as right or wrong in the browser; the list gets better with each answer.

    Answers are saved next to EXAMPLES, in NAME.answers.tsv, which find and train read too.
    """
    from bagpack.cli.look import run_server

    import_server()
    from bagpack.app.session import Session
    from bagpack.find.answers import Answers
    from bagpack.sources import open_source

    open_source(selected(store, where))  # a wrong condition is reported first, as in every command
    answers = Answers(examples, label, _user() if annotator is None else annotator, parse_columns(columns))
    what = f"finds pairs and saves answers to {answers.path.name}"
    run_server(selected(store, where), None, host, port, what, session=Session(answers), path="/find")


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""
