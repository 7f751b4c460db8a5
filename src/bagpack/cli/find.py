"""`bagpack find` and `bagpack teach`."""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import Annotated, Any

from bagpack import console
from bagpack.cli import options as opt
from bagpack.cli.look import import_server, run_server
from bagpack.errors import UsageError

ON_SCREEN, IN_FILES = 20, 500


def find(
    store: opt.Store,
    examples: Annotated[str | None, opt.argument("EXAMPLES", opt.Examples)] = None,
    label: opt.Label = None,
    model: opt.ModelOption = None,
    like: Annotated[tuple[str, str] | None, opt.value("W1 W2", "Find pairs like this one.")] = None,
    w1: opt.FixedFirst = None,
    w2: opt.FixedSecond = None,
    pos1: opt.Pos = None,
    pos2: opt.Pos = None,
    among: opt.Among = None,
    known: Annotated[str | None, opt.value("FILE", "A table of known pairs to exclude.")] = None,
    top: Annotated[int | None, opt.value("N", "Number of pairs (20, or 500 in a file).", min=1)] = None,
    explain: Annotated[int, opt.value("N", "Add the reasons of the first N pairs.", min=0)] = 0,
    columns: opt.Columns = "",
    where: opt.Where = None,
    out: Annotated[Path | None, opt.value("FILE", "Write .tsv, .csv, .xlsx or .ttl.", "--out", "-o")] = None,
    html: opt.Page = None,
    overwrite: opt.Overwrite = False,
    json: opt.Json = False,
) -> None:
    """Find new pairs of a relation in a corpus, each with a sentence."""
    from bagpack.files import check_not_read
    from bagpack.find.export import TURTLE, check_found_file, write_turtle
    from bagpack.find.options import FindOptions
    from bagpack.find.ranking import find_pairs
    from bagpack.learn.model_io import load_model
    from bagpack.report.html import render_found, write_page
    from bagpack.report.screens import show_found
    from bagpack.sources import open_source
    from bagpack.tasks.pairs import read_pairs

    if sum(given is not None for given in (examples, model, like)) != 1:
        raise UsageError("say what to look for: either EXAMPLES, or --model MODEL, or --like W1 W2")
    if columns and examples is None:
        raise UsageError("--columns names columns of EXAMPLES, which are not given; remove it")
    if out is not None:
        check_not_read(out, examples, among, known)
        check_found_file(out, overwrite)
    on_screen = out is None and html is None
    options = FindOptions(
        label=label, w1=w1, w2=w2, pos1=pos1, pos2=pos2, among=among, known=read_pairs(known).pairs if known else (),
        top=top or (ON_SCREEN if on_screen else IN_FILES), explain=explain,
    )  # fmt: skip
    name = opt.selected(store, where)
    loaded = load_model(model) if model else None
    source = loaded.open_source(name) if loaded else open_source(name)
    with opt.at_work(json):
        given, notes = ([like], []) if like else _examples(examples, label, columns)
        found = find_pairs(source, given, model=loaded, options=options)
    if out is not None and out.suffix.lower() == TURTLE:
        write_turtle(out, found.to_dicts(), found.label)
    else:
        opt.write_out(out, found.table())
    if html is not None:
        write_page(html, render_found(found, name))
    if json:
        console.print_json(found.to_dict())
    elif on_screen:
        show_found(found)
    if not opt.is_silent(json):
        for path in (out, html):
            if path is not None:
                console.print_message(f"{path}: {console.many(len(found), 'pair')}")
        for note in (*notes, *found.notes):
            console.print_message(note, "dim")


def _examples(path: str | None, label: str | None, columns: str) -> tuple[Any, list[str]]:
    """The examples of a file together with the answers of `bagpack teach` about them, and a note about these."""
    from bagpack.find.answers import answers_path, read_answers, with_answers
    from bagpack.find.examples import read_examples

    if path is None:
        return None, []
    examples = read_examples(path, label, opt.parse_columns(columns))
    answers = answers_path(path)
    given = {} if path == "-" or answers == Path(os.path.realpath(path)) else read_answers(answers)
    notes = [f"with {console.many(len(given), 'answer')} of {answers.name}"] if given else []
    return with_answers(examples, given), notes


def teach(
    store: opt.Store,
    examples: Annotated[Path, opt.argument("EXAMPLES", "A table with w1, w2 and, optionally, label.")],
    label: opt.Label = None,
    annotator: Annotated[str | None, opt.value("NAME", "Your name (default: user name).")] = None,
    columns: opt.Columns = "",
    where: opt.Where = None,
    host: opt.Host = "127.0.0.1",
    port: opt.Port = 8765,
) -> None:
    """Find pairs and mark them as right or wrong in the browser.

    Answers are saved next to EXAMPLES, in NAME.answers.tsv; find STORE EXAMPLES uses them too.
    """
    import_server()
    from bagpack.find.answers import Answers
    from bagpack.sources import open_source

    name = opt.selected(store, where)
    open_source(name)  # a wrong store or condition is reported first, as in every command
    answers = Answers(
        examples, label, _user() if annotator is None else annotator, opt.parse_columns(columns)
    )
    what = f"finds pairs and saves answers to {answers.path.name}"
    run_server(name, None, host, port, what, answers=answers, path="/find")


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
