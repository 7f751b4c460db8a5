"""What pages may take for granted: `docs/examples`, and artefacts made from it once, under the names that pages use."""

from __future__ import annotations

import bz2
import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.docs.markdown import ROOT
from tests.docs.session import Session

EXAMPLES = ROOT / "docs" / "examples"


def _texts() -> list[tuple[str, list[str]]]:
    files = sorted((EXAMPLES / "texts").iterdir())
    return [(file.stem, file.read_text(encoding="utf-8").splitlines()) for file in files]


def _vertical(place: Path) -> None:
    """The example texts in WaCky's format, compressed."""
    from bagpack.corpus.text.lemmas import get_annotator

    lines = []
    for name, sentences in _texts():
        lines.append(f'<text id="{name}">')
        for sentence in sentences:
            words = sentence.replace(",", " ,").replace(".", " .").split()
            lemmas = get_annotator("simplemma", "en").lemmatize([word.lower() for word in words])  # type: ignore[union-attr]
            rows = (f"{word}\tX\t{lemma}" for word, lemma in zip(words, lemmas, strict=True))
            lines += ["<s>", *rows, "</s>"]
        lines.append("</text>")
    with gzip.open(place, "wt", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


def _dump(place: Path) -> None:
    """The example texts as the articles of a multistream dump."""
    pages = [
        f"  <page>\n    <title>{name.title()}</title>\n    <ns>0</ns>\n    <id>{number}</id>\n"
        f"    <revision>\n      <id>{number}</id>\n      <text>{' '.join(sentences)}</text>\n"
        "    </revision>\n  </page>\n"
        for number, (name, sentences) in enumerate(_texts(), 1)
    ]
    streams = ["<mediawiki>\n", *pages, "</mediawiki>\n"]
    place.write_bytes(b"".join(bz2.compress(stream.encode()) for stream in streams))


def _news(place: Path) -> None:
    place.mkdir()
    for name, sentences in _texts():
        with gzip.open(place / f"{name}.txt.gz", "wt", encoding="utf-8") as out:
            out.write("\n".join(sentences) + "\n")


# The data of the paper's tasks are not ours to hand on: the example's own pairs stand in, in those sets' formats.


def _examples(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()[1:]]


def _pado(place: Path) -> None:
    shutil.copy(EXAMPLES / "ratings.tsv", place)


def _conceptnet(place: Path) -> None:
    rows = [f"{label}\t{w1}\t{w2}\t1.0" for w1, w2, label in _examples("relations.tsv")]
    place.write_text("relation\tword1\tword2\tweight\n" + "\n".join(rows) + "\n", encoding="utf-8")


def _sat(place: Path) -> None:
    blocks = []
    for line in (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        pairs = [f"{w1} {w2} n:n" for w1, w2 in (question["stem"], *question["choice"])]
        blocks.append("\n".join(["OURS", *pairs, "abc"[question["answer"]]]))
    place.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def _toefl(place: Path) -> None:
    """A word's partner in the relations stands in for its synonym; the other choices are partners of others."""
    rows = _examples("relations.tsv")[::4]
    asked, answers = [], []
    for number, (w1, w2, _) in enumerate(rows, 1):
        others = [rows[(number + shift) % len(rows)][1] for shift in (2, 4, 7)]
        choices = sorted({w2, *others})
        letters = "abcd"[: len(choices)]
        asked.append(
            "\n".join([f"{number}. {w1}", *(f"{a}. {c}" for a, c in zip(letters, choices, strict=True))])
        )
        answers.append(f"{number} {letters[choices.index(w2)]}")
    place.write_text("\n\n".join(asked) + "\n", encoding="utf-8")
    place.with_suffix(".ans").write_text("\n".join(answers) + "\n", encoding="utf-8")


def _made_by(command: str, *needs: str) -> tuple[tuple[str, ...], str]:
    return needs, command


WRITTEN: dict[str, Callable[[Path], None]] = {
    "ukwac.xml.gz": _vertical,
    "enwiki-latest-pages-articles-multistream.xml.bz2": _dump,
    "news": _news,
    "pado2007.tsv": _pado,
    "conceptnet.tsv": _conceptnet,
    "SAT-package-V3.txt": _sat,
    "toefl.qst": _toefl,
}
MADE = {
    "ukwac.bp": _made_by("bagpack index texts --out ukwac.bp --quiet"),
    "my.bp": _made_by("bagpack index texts --out my.bp --quiet"),
    "pairs.bpm": _made_by("bagpack vectors ukwac.bp pairs.tsv --out pairs.bpm --quiet", "ukwac.bp"),
    "relations.model": _made_by(
        "bagpack train ukwac.bp relations.tsv --no-scores --out relations.model --quiet", "ukwac.bp"
    ),
    "my.model": _made_by("bagpack train my.bp relations.tsv --no-scores --out my.model --quiet", "my.bp"),
    "my-index": _made_by("bagpack engine build my-index news --quiet", "news"),
}


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
        needs, command = MADE[name]
        for needed in needs:
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
                for file in made.parent.glob(made.stem + ".*") if made.suffix == ".qst" else (made,):
                    shutil.copy(file, directory)
