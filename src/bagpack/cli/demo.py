"""`bagpack demo`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

from bagpack import console
from bagpack.cli import options as opt
from bagpack.errors import BagpackError, StoreError

FOUND = "part-of"  # the relation of which new pairs are found
EXAMPLES = Path(__file__).resolve().parents[3] / "docs" / "examples"  # in a checkout


def demo(
    directory: Annotated[Path, opt.value("DIRECTORY", "Directory for all files.", "--dir")] = Path("demo"),
) -> None:
    """Run every step on a small real corpus, from index to report."""
    with opt.keeping("finished steps are kept: run the same command to continue"):
        try:
            _index(directory)
        except BagpackError as error:
            if not EXAMPLES.is_dir():
                raise
            _say(f"\n{error}", "yellow")
            _say(
                "Here are the same steps on the documentation's small texts; a real corpus gives better answers."
            )
            steps = _small_steps(directory, EXAMPLES)
        else:
            steps = _steps(directory)
    _say(f"\nAll files are in {directory}/, which you can delete. Try next:")
    for command in steps:
        _show_command(command, "  ")


def _index(directory: Path) -> None:
    from bagpack.artefacts import is_unfinished
    from bagpack.corpus.format import read_manifest
    from bagpack.demo import LICENCE, WHAT, fetch, unpack

    store = directory / "enwik8.bp"
    _say(
        f"The corpus: {WHAT}.\nIts licence: {LICENCE}.\nThe source archive with it is downloaded once (36 MB)."
    )
    try:
        read_manifest(store)
    except StoreError:
        dump = unpack(fetch(), directory / "enwik8.xml")
        run("index", dump, "--out", store, *(["--resume"] if is_unfinished(store) else []))


def _steps(directory: Path) -> list[tuple[object, ...]]:
    """All steps after indexing; returns commands to try next."""
    from bagpack.data import relations_path
    from bagpack.find.examples import read_examples

    store, matrix, data = directory / "enwik8.bp", directory / "relations.bpm", relations_path()
    model, report = directory / "relations.model", directory / "relations.html"
    run("contexts", store, "cat", "lion", "--limit", 4)
    if not matrix.exists():  # else it is whole: it gets its name when it is
        run("vectors", store, data, "--out", matrix)
    if not report.exists():
        run("train", matrix, data, "--preset", "modern", "--out", model, "--report", report, *_again(model))
    for pair in (("virus", "infection"), ("surgeon", "hospital")):  # not among the labelled pairs
        run("explain", model, *pair, "--top", 4, "--lines", 1)
    _say(f"\nNew pairs of the relation {FOUND}, which are not among the labelled pairs:")
    run("find", store, data, "--label", FOUND, "--top", 20)
    _say(f"\nThe report is {report}: open it in a browser.", "bold")
    # The examples of one relation in a file of their own: answers are saved next to it.
    examples = directory / f"{FOUND}.tsv"
    rows = [f"{w1}\t{w2}\t{FOUND}\n" for w1, w2 in read_examples(data, FOUND).positives]
    examples.write_text("w1\tw2\tlabel\n" + "".join(rows), encoding="utf-8")
    return [("teach", store, examples), ("explain", model, "wheel", "bicycle"),
            ("index", "YOUR-TEXTS", "--out", "my.bp")]  # fmt: skip


def _small_steps(directory: Path, examples: Path) -> list[tuple[object, ...]]:
    """The same steps on the few sentences that the documentation uses."""
    store, model = directory / "small.bp", directory / "small.model"
    run("index", examples / "texts", "--out", store, *_again(store))
    run("contexts", store, "leaf", "tree")
    run("train", store, examples / "relations.tsv", "--out", model, "--no-scores", *_again(model))
    run("explain", model, "leaf", "tree", "--label", "part", "--top", 2, "--lines", 1)
    run("find", store, examples / "parts.tsv", "--top", 10)
    return [("explain", model, "hammer", "nail"), ("serve", store, "--model", model), ("demo",)]


def _again(path: Path) -> list[str]:
    return ["--overwrite"] if path.exists() else []


def run(*args: object) -> None:
    """Print a command, and run it as if it had been typed."""
    from bagpack.cli.main import run_command

    _show_command(args, "\n", "bold")
    typed = sys.argv
    sys.argv = ["bagpack", *map(str, args)]  # commands write down how they were called
    try:
        run_command(sys.argv[1:])
    finally:
        sys.argv = typed
        sys.stdout.flush()


def _say(text: str, style: str | None = None) -> None:
    console.print_message(text, style, console.screen())


def _show_command(args: tuple[object, ...], before: str, style: str | None = None) -> None:
    """Print a command on one line, however long, so that it can be copied."""
    line = before + shlex.join(["bagpack", *map(str, args)])
    console.screen().print(line, style=style, markup=False, soft_wrap=True)
