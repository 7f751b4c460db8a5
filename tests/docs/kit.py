"""What pages may take for granted: `docs/examples`, and artefacts made from it once, under the names that pages use."""

import gzip
import json
import shutil
from functools import partial

from tests.docs.markdown import ROOT
from tests.docs.session import Session

EXAMPLES = ROOT / "docs" / "examples"


def _examples(name):
    return [line.split("\t") for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()]


def _news(place):
    place.mkdir()
    for file in (EXAMPLES / "texts").iterdir():
        (place / f"{file.stem}.txt.gz").write_bytes(gzip.compress(file.read_bytes()))


def _workbook(place):
    """The labelled pairs as a spreadsheet."""
    from bagpack.sheets import write_table

    write_table(place, _examples("relations.tsv"))


# The data of the paper's tasks are not ours to hand on: the example's own pairs stand in, in those sets' formats.


def _conceptnet(place):
    rows = [f"{label}\t{w1}\t{w2}\t1.0\n" for w1, w2, label in _examples("relations.tsv")[1:]]
    place.write_text("relation\tword1\tword2\tweight\n" + "".join(rows), encoding="utf-8")


def _toefl(place):
    """A word's partner in the relations stands in for its synonym; the other choices are partners of others."""
    rows, lines = _examples("relations.tsv")[1::4], []
    for number, (w1, w2, _) in enumerate(rows, 1):
        choices = sorted({w2, *(rows[(number + shift) % len(rows)][1] for shift in (2, 4, 7))})
        lines.append(json.dumps({"stem": w1, "choice": choices, "answer": choices.index(w2)}) + "\n")
    place.write_text("".join(lines), encoding="utf-8")


WRITTEN = {
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

    def __init__(self, place):
        self.place = place
        shutil.copytree(EXAMPLES, place, dirs_exist_ok=True)

    def make(self, name):
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

    def lay_out(self, directory, names):
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
