"""`bagpack teach`."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import Annotated

import typer

from bagpack import console
from bagpack.cli.arguments import FILE, Names
from bagpack.cli.declaration import advanced, common
from bagpack.cli.option_groups import (
    CountingOptions,
    LearningOptions,
    ParallelOptions,
    SearchOptions,
    SubcorpusOptions,
)
from bagpack.cli.options import Columns, Port, Store, parse_columns
from bagpack.cli.progress import work_progress
from bagpack.cli.serve import import_server, show_address
from bagpack.cli.words import check_words

STRATEGIES = ("mix", "uncertainty", "rank", "random")


def teach(
    store: Store,
    examples: Annotated[
        Path,
        typer.Argument(help="A table with w1, w2 and label; answers are added to it."),
        Names((FILE,)),
    ],
    search: SearchOptions,
    subcorpus: SubcorpusOptions,
    learning: LearningOptions,
    counting: CountingOptions,
    parallel: ParallelOptions,
    annotator: Annotated[
        str | None,
        common("--annotator", metavar="NAME", help="Your name, saved with each answer (default: user name)."),
    ] = None,
    questions: Annotated[
        str,
        common(
            "--questions",
            metavar="STRATEGY",
            help="Next question: mix, uncertainty, rank or random.",
            values=STRATEGIES,
        ),
    ] = "mix",
    columns: Columns = "",
    candidates: Annotated[
        int, advanced("--candidates", help="Number of candidates, ranked by the first model.", least=1)
    ] = 5_000,
    host: Annotated[str, advanced("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Port = 8765,
    no_browser: Annotated[bool, common("--no-browser", help="Only print the address of the page.")] = False,
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
    from bagpack.app.teaching import Lesson
    from bagpack.find.answers import AnswerFile
    from bagpack.find.pool import CandidateOptions
    from bagpack.find.questions import Strategy
    from bagpack.find.requests import least_count
    from bagpack.find.teaching import Teaching
    from bagpack.find.vocabulary import read_vocabulary
    from bagpack.parallel import stop_workers
    from bagpack.sources import open_source

    check_words(search.w1, search.w2)
    bind(host, port).close()  # an error comes before the work
    source = open_source(subcorpus.store(store))
    file = AnswerFile(
        examples, search.label, _user() if annotator is None else annotator, parse_columns(columns)
    )
    try:
        vocabulary = None if search.among is None else read_vocabulary(source, search.among)
        options = CandidateOptions(
            search.w1, search.w2, vocabulary, least_count(search.min_count, vocabulary),
            search.min_together, candidates,
        )  # fmt: skip
        with parallel.workers(None, store), work_progress(False) as progress:
            teaching = Teaching.start(
                source, file.examples, options, preset=learning.preset, seed=learning.seed, b=counting.choice,
                basis=counting.open_basis(source), settings=counting.settings(), n_jobs=parallel.jobs,
                progress=progress,
            )  # fmt: skip
        stop_workers()  # the explorer forks its own, and must not fork theirs
        library = Library(source, limits=Limits())
        library.teaching = teaching
        warm_up(library)
        for note in teaching.notes:
            console.print_message(note, "dim")

        def announce() -> None:
            what = f"asks about pairs and adds the answers to {examples}"
            address = show_address(host, port, what, "/teach")
            if sys.stdout.isatty() and not no_browser:
                import webbrowser

                webbrowser.open(address)

        strategy: Strategy = questions  # type: ignore[assignment]  # checked by the option
        answer(library, host, port, (), Lesson(file, strategy), announce)
    finally:
        file.close()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""
