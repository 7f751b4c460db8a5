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
    from bagpack.errors import BagpackError

    store, matrix = directory / "enwik8.bp", directory / "relations.bpm"
    model, report = directory / "relations.model", directory / "relations.html"
    try:
        _corpus(directory, store)
    except BagpackError as error:
        if not (examples := _checkout() / "docs" / "examples").is_dir():
            raise
        _say(f"\n{error}", "yellow")
        _without_network(directory, examples)
        return
    run("contexts", store, *MEETING, "--limit", 4)
    _count(store, matrix)
    _train(matrix, model, report)
    for pair in EXPLAINED:
        run("explain", model, *pair, "--top", 4, "--lines", 1)
    _say(f"\nNew pairs of the relation {FOUND}, which are not among the labelled pairs:")
    run("find", store, _relations(), "--label", FOUND, "--top", 20)
    _say(f"\nThe report is {report}: open it in a browser.", "bold")
    _say(f"All files are in {directory}/, which you can delete. Try next:")
    _next(
        ("teach", store, _examples(directory)),
        ("explain", model, *NEXT),
        ("index", "YOUR-TEXTS", "--out", "my.bp"),
    )


def _without_network(directory: Path, examples: Path) -> None:
    """The same steps on the few sentences that the documentation uses."""
    store, model, relations = directory / "small.bp", directory / "small.model", examples / "relations.tsv"
    _say("Here are the same steps on the documentation's small texts; a real corpus gives better answers.")
    again = ["--overwrite"] if store.exists() else []
    run("index", examples / "texts", "--out", store, *again)
    run("contexts", store, "leaf", "tree")
    run(
        "train", store, relations, "--out", model, "--no-scores", *(["--overwrite"] if model.exists() else [])
    )
    run("explain", model, "leaf", "tree", "--label", "part", "--top", 2, "--lines", 1)
    run("find", store, examples / "parts.tsv", "--top", 10)
    _say(f"\nAll files are in {directory}/, which you can delete. Try next:")
    _next(("explain", model, "hammer", "nail"), ("serve", store, "--model", model), ("demo",))


def _next(*commands: tuple[object, ...]) -> None:
    for line in commands:
        _show_command(line, "  ")


def _examples(directory: Path) -> Path:
    """The examples of the relation that is found, in a file of their own: answers are saved next to it."""
    from bagpack.find.examples import read_examples

    path = directory / f"{FOUND}.tsv"
    rows = [f"{w1}\t{w2}\t{FOUND}\n" for w1, w2 in read_examples(_relations(), FOUND).positives]
    path.write_text("w1\tw2\tlabel\n" + "".join(rows), encoding="utf-8")
    return path


def _checkout() -> Path:
    return Path(__file__).resolve().parents[3]


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
    from bagpack.demo import ARCHIVES, fetch_any, unpack
    from bagpack.errors import StoreError

    _say(f"The corpus: {ARCHIVES[0].what}.\nIts licence: {ARCHIVES[0].licence}.")
    try:
        read_manifest(store)
    except StoreError:
        dump = unpack(*fetch_any(ARCHIVES, _say), directory / "enwik8.xml")
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
