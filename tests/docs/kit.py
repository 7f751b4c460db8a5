"""What pages may take for granted: `docs/examples`, and artefacts made from it once, under the names that pages use."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.docs.markdown import ROOT
from tests.docs.session import Session

EXAMPLES = ROOT / "docs" / "examples"


def _texts() -> list[tuple[str, list[str]]]:
    files = sorted((EXAMPLES / "texts").iterdir())
    return [(file.stem, file.read_text(encoding="utf-8").splitlines()) for file in files]


def _news(place: Path) -> None:
    place.mkdir()
    for name, sentences in _texts():
        with gzip.open(place / f"{name}.txt.gz", "wt", encoding="utf-8") as out:
            out.write("\n".join(sentences) + "\n")


def _workbook(place: Path) -> None:
    """The labelled pairs as a spreadsheet."""
    from bagpack.sheets import write_table

    lines = (EXAMPLES / "relations.tsv").read_text(encoding="utf-8").splitlines()
    write_table(place, [line.split("\t") for line in lines])


# The data of the paper's tasks are not ours to hand on: the example's own pairs stand in, in those sets' formats.


def _examples(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()[1:]]


def _conceptnet(place: Path) -> None:
    rows = [f"{label}\t{w1}\t{w2}\t1.0" for w1, w2, label in _examples("relations.tsv")]
    place.write_text("relation\tword1\tword2\tweight\n" + "\n".join(rows) + "\n", encoding="utf-8")


def _toefl(place: Path) -> None:
    """A word's partner in the relations stands in for its synonym; the other choices are partners of others."""
    rows = _examples("relations.tsv")[::4]
    lines = []
    for number, (w1, w2, _) in enumerate(rows, 1):
        others = [rows[(number + shift) % len(rows)][1] for shift in (2, 4, 7)]
        choices = sorted({w2, *others})
        lines.append(json.dumps({"stem": w1, "choice": choices, "answer": choices.index(w2)}))
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")


WRITTEN: dict[str, Callable[[Path], object]] = {
    "news": _news,
    "relations.xlsx": _workbook,
    "pado2007.tsv": partial(shutil.copy, EXAMPLES / "ratings.tsv"),
    "conceptnet.tsv": _conceptnet,
    "sat.jsonl": partial(shutil.copy, EXAMPLES / "questions.jsonl"),
    "toefl.jsonl": _toefl,
}
# What is needed, and the command.
MADE = {
    "ukwac.bp": ("", "bagpack index texts --out ukwac.bp --quiet"),
    "my.bp": ("", "bagpack index texts --out my.bp --quiet"),
    "pairs.bpm": ("ukwac.bp", "bagpack vectors ukwac.bp pairs.tsv --out pairs.bpm --quiet"),
    "relations.model": ("ukwac.bp", "bagpack train ukwac.bp relations.tsv --no-scores --out relations.model --quiet"),
    "my.model": ("my.bp", "bagpack train my.bp relations.tsv --no-scores --out my.model --quiet"),
}  # fmt: skip


class Kit:
    """Makes each artefact when a page first asks for it, and lays out a page's directory."""

    def __init__(self, place: Path) -> None:
        self.place = place
        shutil.copytree(EXAMPLES, place, dirs_exist_ok=True)

    def make(self, name: str) -> Path:
        """The artefact, made now or before."""
        path = self.place / name
        if path.exists():
            return path
        if name in WRITTEN:
            WRITTEN[name](path)
            return path
        needed, command = MADE[name]
        if needed:
            self.make(needed)
        with Session(self.place) as session:
            code, said = session.command(command)
        assert code == 0, "\n".join(said)
        return path

    def lay_out(self, directory: Path, names: list[str]) -> None:
        """The examples and the named artefacts."""
        shutil.copytree(EXAMPLES, directory, dirs_exist_ok=True)
        (directory / "docs").mkdir()
        (directory / "docs" / "examples").symlink_to(EXAMPLES)  # as the README has them
        for name in names:
            made = self.make(name)
            if made.is_dir():
                shutil.copytree(made, directory / name)
            else:
                shutil.copy(made, directory)
