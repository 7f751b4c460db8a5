"""`bagpack demo`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from bagpack import console
from bagpack.cli import options as opt

MEETING = ("cat", "lion")
EXPLAINED = (("virus", "infection"), ("surgeon", "hospital"))  # not among the labelled pairs
NEXT = ("wheel", "bicycle")  # neither
PRESET = "modern"
FOUND = "part-of"  # the relation of which new pairs are found


def demo(
    directory: Annotated[Path, opt.value("DIRECTORY", "Directory for all files.", "--dir")] = Path("demo"),
) -> None:
    """Run every step on a small real corpus, from index to report."""
    store, matrix = directory / "enwik8.bp", directory / "relations.bpm"
    model, report = directory / "relations.model", directory / "relations.html"
    _corpus(directory, store)
    run("contexts", store, *MEETING, "--limit", 4)
    _count(store, matrix)
    _train(matrix, model, report)
    for pair in EXPLAINED:
        run("explain", model, *pair, "--top", 4, "--lines", 1)
    _say(f"\nNew pairs of the relation {FOUND}, which are not among the labelled pairs:")
    run("find", store, _relations(), "--label", FOUND, "--top", 20)
    _say(f"\nThe report is {report}: open it in a browser.", "bold")
    _say(f"All files are in {directory}/, which you can delete. Try next:")
    for line in (
        ("find", store, _relations(), "--label", FOUND, "--w2", "ship"),
        ("explain", model, *NEXT),
        ("contexts", store, "volcano", "island"),
        ("evaluate", matrix, _relations(), "--preset", "paper"),
        ("serve", store, "--model", model),
        ("index", "YOUR-TEXTS", "--out", "my.bp"),
    ):
        _show_command(line, "  ")


def run(*args: object) -> None:
    """Print a command, and run it as if it had been typed."""
    from bagpack.cli.main import app

    _show_command(args, "\n", "bold")
    typed = sys.argv
    sys.argv = ["bagpack", *map(str, args)]  # commands write down how they were called
    try:
        app(sys.argv[1:], standalone_mode=False)
    finally:
        sys.argv = typed
        sys.stdout.flush()


def _say(text: str, style: str | None = None) -> None:
    console.print_message(text, style, console.screen())


def _show_command(args: Sequence[object], before: str, style: str | None = None) -> None:
    """Print a command on one line, however long, so that it can be copied."""
    line = before + shlex.join(["bagpack", *map(str, args)])
    console.screen().print(line, style=style, markup=False, soft_wrap=True)


def _relations() -> Path:
    from bagpack.data import relations_path

    return relations_path()


def _corpus(directory: Path, store: Path) -> None:
    from bagpack.corpus.corpus import Corpus
    from bagpack.corpus.format import is_unfinished, read_manifest
    from bagpack.demo import ENWIK8, fetch, unpack
    from bagpack.errors import StoreError

    _say(f"The corpus: {ENWIK8.what}.\nIts licence: {ENWIK8.licence}.")
    try:
        read_manifest(store)
    except StoreError:
        dump = unpack(ENWIK8, fetch(ENWIK8, _say), directory / "enwik8.xml")
        run("index", dump, "--out", store, *(["--resume"] if is_unfinished(store) else []))
    else:
        corpus = Corpus.open(store)
        _say(f"{store} is there already: {corpus.tokens:,} tokens, {corpus.sentences:,} sentences, "
             f"{corpus.documents:,} articles")  # fmt: skip


def _count(store: Path, matrix: Path) -> None:
    from bagpack.errors import StoreError
    from bagpack.tasks import read_pairs
    from bagpack.vectors.counts import PairCounts

    data = _relations()
    try:
        PairCounts.open(matrix).rows_of(read_pairs(str(data)).pairs)
    except StoreError:
        run("vectors", store, data, "--out", matrix, *(["--overwrite"] if matrix.exists() else []))


def _train(matrix: Path, model: Path, report: Path) -> None:
    command = ("train", matrix, _relations(), "--preset", PRESET, "--out", model, "--report", report)
    if not report.exists() or not model.exists() or model.stat().st_mtime < matrix.stat().st_mtime:
        run(*command, *(["--overwrite"] if model.exists() else []))
        return
    _show_command(command, "\n", "bold")
    _say(f"has run before; its scores are in {report}")
