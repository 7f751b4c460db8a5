"""`bagpack find`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bagpack import console
from bagpack.cli.arguments import FILE, MODEL, Names
from bagpack.cli.declaration import advanced, common
from bagpack.cli.option_groups import (
    CountingOptions,
    LearningOptions,
    OutputOptions,
    ParallelOptions,
    SearchOptions,
    SubcorpusOptions,
)
from bagpack.cli.options import AnyStore, Columns, Overwrite, Page, Store, parse_columns
from bagpack.cli.progress import work_progress
from bagpack.cli.words import check_words
from bagpack.errors import UsageError

ON_SCREEN, IN_FILES = 20, 500


def find(
    store: Store,
    search: SearchOptions,
    learning: LearningOptions,
    counting: CountingOptions,
    subcorpus: SubcorpusOptions,
    parallel: ParallelOptions,
    output: OutputOptions,
    examples: Annotated[
        str | None,
        typer.Argument(help="A table with w1, w2 and, optionally, label; - for stdin."),
        Names((FILE,)),
    ] = None,
    model: Annotated[
        str | None,
        common("--model", help="Use this model (bagpack train) instead of training one."),
        Names((MODEL,)),
    ] = None,
    like: Annotated[
        tuple[str, str] | None,
        common("--like", metavar="W1 W2", help="Find pairs like this one, without training."),
    ] = None,
    known: Annotated[
        str | None,
        advanced("--known", metavar="FILE", help="A table of known pairs to exclude."),
        Names((FILE,)),
    ] = None,
    mark_known: Annotated[
        bool, advanced("--mark-known", help="Keep examples and known pairs, and mark them.")
    ] = False,
    top: Annotated[
        int | None, common("--top", help=f"Number of pairs ({ON_SCREEN}, or {IN_FILES} in a file).")
    ] = None,
    per_word: Annotated[
        str,
        advanced(
            "--per-word", metavar="N", help="At most N pairs with the same first or second word, or none."
        ),
    ] = "5",
    never_meeting: Annotated[
        int, advanced("--never-meeting", help="Also consider N pairs that never co-occur.")
    ] = 0,
    scored: Annotated[
        int | None,
        advanced("--scored", help="Candidates that get full vectors (100,000; of one word, 10 × --top)."),
    ] = None,
    negatives: Annotated[
        int | None,
        advanced("--negatives", help="Negatives to draw from the corpus (10 per example, 200 to 4,000)."),
    ] = None,
    columns: Columns = "",
    any_store: AnyStore = False,
    out: Annotated[
        Path | None,
        common("--out", "-o", metavar="FILE", help="Write .tsv, .csv, .xlsx, .ttl or .graphml instead."),
    ] = None,
    html: Page = None,
    overwrite: Overwrite = False,
) -> None:
    """Find new pairs of a relation in a corpus, each with a sentence."""
    from bagpack.find.requests import FindRequest, run_request
    from bagpack.report.screens.found import show_found
    from bagpack.sheets import write_table

    check_words(search.w1, search.w2, *(like or ()))
    if sum(given is not None for given in (examples, model, like)) != 1:
        raise UsageError("say what to look for: either EXAMPLES, or --model MODEL, or --like W1 W2")
    if out is not None:
        from bagpack.files import check_not_read
        from bagpack.find.export import check_thesaurus, is_graph, write_thesaurus

        check_not_read(out, examples, search.among, known)
        check_thesaurus(out, "table of pairs", overwrite)
    if top is None:
        top = ON_SCREEN if out is None and html is None else IN_FILES
    request = FindRequest(
        examples=examples, model=model, like=like, **asdict(search), known=known, mark_known=mark_known, top=top,
        per_word=_parse_per_word(per_word), never_meeting=never_meeting, scored=scored, negatives=negatives,
        columns=parse_columns(columns), any_store=any_store, preset=learning.preset, seed=learning.seed,
        b=counting.choice, basis=counting.basis, settings=counting.settings(),
    )  # fmt: skip
    with parallel.workers(out, store), work_progress(output.silent) as progress:
        found = run_request(subcorpus.store(store), request, parallel.jobs, progress)
    if out is not None:
        if is_graph(out):
            write_thesaurus(out, [{**row, "label": found.label} for row in found.to_dicts()])
        else:
            write_table(out, found.table())
    if html is not None:
        from bagpack.report.found import render_found
        from bagpack.report.page import write_page

        write_page(html, render_found(found, subcorpus.store(store)))
    if output.json:
        console.print_json(found.to_dict())
    elif out is None and html is None:
        show_found(found)
    if not output.silent:
        _print_summary(out, html, found.notes, len(found))


def _parse_per_word(text: str) -> int | None:
    if text.lower() == "none":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"--per-word {text} is not understood; give 1 or more, or none for no limit")
    return int(text)


def _print_summary(out: Path | None, html: Path | None, notes: tuple[str, ...], number: int) -> None:
    for path in (out, html):
        if path is not None:
            console.print_about(path, console.many(number, "pair"))
    for note in notes:
        console.print_message(note, "dim")
