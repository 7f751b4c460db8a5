"""Finding and teaching on a page: what is looked for, the answers, and the list that follows from them.

What is looked for comes with each request, so that a worker that was killed, or another visitor's search in between,
costs time and nothing else. `Session` is the part of the web server; the functions after it run in the worker for
searches, which keeps the candidates of the last searches in memory: a new answer costs one training of a small model.
"""

from __future__ import annotations

import gc
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bagpack import parallel
from bagpack.app.library import Library
from bagpack.app.pages import Near, unknown_words
from bagpack.app.pool import Note
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.corpus import Corpus
from bagpack.errors import InputError, UsageError
from bagpack.explain.distribution import wilson_interval
from bagpack.explain.explanation import Explanation
from bagpack.explain.lines import line_dict
from bagpack.find.answers import Answers
from bagpack.find.candidates import MIN_COUNT, MIN_TOGETHER, kept_candidates
from bagpack.find.examples import UNNAMED, Examples, Pair
from bagpack.find.export import write_turtle
from bagpack.find.options import FindOptions
from bagpack.find.ranking import COLUMNS
from bagpack.find.teaching import Teaching
from bagpack.sheets import write_table
from bagpack.vectors.words import WordVectors, stored_vectors

SHOWN, IN_FILES = 30, 500
WARM = 3  # pairs of a search before the first one
MOST_PAIRS, LONGEST_WORD = 5_000, 200
SEARCHES = 2  # that are kept in memory
ROW_LINES = 5


@dataclass(frozen=True)
class Task:
    """What is looked for: `pairs` of the relation, `answers` so far (w1, w2, whether it is right), and conditions.

    `w1` and `w2` are words that the pairs must have; `pos1` and `pos2` parts of speech such as `noun,verb`, `any`, or
    nothing for those of the examples; `negatives` pairs that are not in the relation.
    """

    pairs: tuple[Pair, ...] = ()
    answers: tuple[tuple[str, str, bool], ...] = ()
    w1: str = ""
    w2: str = ""
    pos1: str = ""
    pos2: str = ""
    label: str = UNNAMED
    negatives: tuple[Pair, ...] = ()

    def __post_init__(self) -> None:
        if len(self.pairs) + len(self.answers) + len(self.negatives) > MOST_PAIRS:
            raise UsageError(f"these are more than {MOST_PAIRS:,} pairs; give fewer examples")
        for pair in (*self.pairs, *self.negatives, *(answer[:2] for answer in self.answers)):
            for word in pair:
                if not word.strip() or len(word) > LONGEST_WORD or not word.isprintable():
                    raise UsageError(f"{word[:30]!r} is not a word; correct the pair {' – '.join(pair)!r}")


@dataclass(frozen=True)
class FoundRow:
    """A pair that was found, its score, and its best sentence in pieces: the third and the fifth are the two words.

    `share` is the score between the lowest and the highest of the list; `unsure` marks a pair that is asked because the
    model is unsure about it.
    """

    w1: str
    w2: str
    score: float
    share: float
    together: int
    n_w1: int
    n_w2: int
    unsure: bool = False
    pieces: tuple[str, ...] = ()
    document: str = ""


@dataclass(frozen=True)
class FindPage:
    """The pairs that were found, best first, and how good the list is by the answers.

    `unknown` are words of the examples that the corpus does not contain, with similar spellings; `pos` the parts of
    speech of the examples in each place; `right` of `answered` pairs are in the relation, a share between `low` and
    `high` (95 %). `held_out` and `before` are the average precision on the answers that are not trained on, of this
    model and of the one before, and `kept` says that the one before was better and stays.
    """

    rows: list[FoundRow]
    unknown: Near
    pos: tuple[str, str]
    candidates: int
    notes: list[str]
    answered: int
    right: int
    low: float | None
    high: float | None
    held_out: float | None
    before: float | None
    kept: bool


@dataclass(frozen=True)
class RowPage:
    """More about a pair that was found: sentences and reasons."""

    w1: str
    w2: str
    lines: list[dict[str, Any]]
    explanation: Explanation


class Session:
    """The relation that all tabs share with `bagpack teach`; otherwise each page keeps its examples and answers itself.

    ``file`` is the name of the file that answers are saved to, ``relation`` the name of the relation; both may be
    empty.
    """

    def __init__(self, answers: Answers | None = None) -> None:
        self.answers = answers
        self.offered: set[Pair] = set()
        self.file = answers.path.name if answers else ""
        self.relation = answers.examples.label if answers and answers.examples.label != UNNAMED else ""

    def task(self, given: Task) -> Task:
        """What a request asks for; with `bagpack teach`, examples and answers are those of the files."""
        if self.answers is None:
            return given
        own = self.answers.examples
        answers = tuple((*pair, right) for pair, right in self.answers.answered)
        return replace(given, pairs=own.positives, negatives=own.negatives, label=own.label, answers=answers)

    def answer(self, pair: Pair, answer: str) -> None:
        """Save an answer, or take the last one back."""
        if self.answers is None:
            raise UsageError("no file was named to save answers to; bagpack teach names one")
        if answer == "undo":
            self.answers.undo()
        elif pair not in self.offered:
            raise InputError(f"{' – '.join(pair)} was not offered, so an answer to it is not taken")
        else:
            self.answers.add(pair, answer == "yes")


# In the worker -----------------------------------------------------------------------------------------------------

_searches: dict[Task, Teaching] = {}  # without answers; the last used at the end


def _search(library: Library, task: Task) -> Teaching:
    """The candidates of a task: those that are kept, or new ones."""
    if not isinstance(library.source, Corpus):
        raise UsageError("snippets hold only the pairs that were fetched; open a store to find new pairs")
    if not task.pairs:
        raise UsageError("there are no examples; give a few pairs of the relation")
    key = replace(task, answers=())
    kept = _searches.pop(key, None)
    if kept is None:
        while len(_searches) >= SEARCHES:
            del _searches[next(iter(_searches))]
        asked = FindOptions(
            w1=task.w1.strip() or None, w2=task.w2.strip() or None, pos1=task.pos1 or None, pos2=task.pos2 or None
        )  # fmt: skip
        given = Examples(task.label, tuple(dict.fromkeys(task.pairs)), tuple(dict.fromkeys(task.negatives)))
        with parallel.settings(n_jobs=-1, progress=Note()), parallel.on_threads():
            kept = Teaching.start(library.source, given, asked)
    _searches[key] = kept
    return kept


def search(library: Library, task: Task, number: int = SHOWN) -> FindPage:
    """Find pairs, or rank them again after an answer."""
    teaching = _search(library, task)
    answered = {(w1, w2): right for w1, w2, right in task.answers}
    with parallel.settings(n_jobs=-1, progress=Note()), parallel.on_threads():
        ranked = teaching.rank(answered)
        chosen = ranked.questions(number)
        lines = teaching.lines([own.pair for own, _ in chosen], 1)
    scores = [own.score for own, _ in chosen]
    least, most = min(scores, default=0.0), max(scores, default=1.0)
    rows = []
    for (own, unsure), line in zip(chosen, lines, strict=True):
        share = (own.score - least) / ((most - least) or 1.0)
        shown = (line[0].pieces, line[0].document) if line else ((), "")
        rows.append(FoundRow(*own.pair, own.score, share, own.together, own.n_w1, own.n_w2, unsure, *shown))
    right = sum(answered.values())
    low, high = wilson_interval(right, len(answered)) if answered else (None, None)
    words = dict.fromkeys(word for pair in task.pairs for word in pair)
    return FindPage(
        rows, unknown_words(library, tuple(words)), teaching.places.kind_names, teaching.pool.candidates,
        teaching.first[0].trained.notes, len(answered), right, low, high, ranked.held_out, ranked.before, ranked.kept,
    )  # fmt: skip


def row(library: Library, task: Task, w1: str, w2: str) -> RowPage:
    """Sentences of a pair that was found, and why it was."""
    teaching = _search(library, task)
    with parallel.settings(n_jobs=-1), parallel.on_threads():
        teaching.rank({(a, b): right for a, b, right in task.answers})
        found = teaching.lines([(w1, w2)], ROW_LINES)[0]
        return RowPage(w1, w2, [line_dict(line) for line in found], teaching.explain((w1, w2)))


def file(library: Library, task: Task, kind: str) -> bytes:
    """What is known of the relation as a file: examples and answers first, then the pairs found, as TSV or XLSX.

    SKOS Turtle has the pairs that were confirmed; without any answer, those that were found.
    """
    known = [("example", *pair) for pair in task.pairs]
    known += [("yes" if right else "no", w1, w2) for w1, w2, right in task.answers]
    found = search(library, task, IN_FILES).rows
    with TemporaryDirectory() as folder:
        path = Path(folder, f"pairs.{kind}")
        if kind == "ttl":
            right = [pair for answer, *pair in known if answer != "no"]
            right += [] if task.answers else [[row.w1, row.w2] for row in found]
            write_turtle(path, [{"w1": w1, "w2": w2} for w1, w2 in right], task.label)
        else:
            names = [name for name in COLUMNS if name not in ("reasons", "model_score")]
            rows = [["", w1, w2, *[""] * (len(names) - 3), answer] for answer, w1, w2 in known]
            for rank, row in enumerate(found, 1):
                own = asdict(row) | {"rank": rank, "sentence": "".join(row.pieces).strip()}
                own["score"] = round(row.score, 4)
                rows.append([*(own[name] for name in names), ""])
            write_table(path, [[*names, "answer"], *rows])
        return path.read_bytes()


def warm_up(library: Library, search: bool) -> None:
    """Load what a search needs, if the store's word vectors were counted before; with `search`, by a search."""
    if isinstance(source := library.source, Corpus) and stored_vectors(source.path) is not None:
        with parallel.settings(n_jobs=-1), parallel.on_threads():
            WordVectors.of(source)
            found = kept_candidates(source, CountSettings().windows, MIN_COUNT, MIN_TOGETHER)[0]
            if search and len(found) >= WARM:
                pairs = [(str(one), str(two)) for one, two in found.take(slice(WARM)).pairs()]
                Teaching.start(source, Examples(UNNAMED, tuple(pairs))).rank()
        gc.freeze()  # what is kept from now on is not looked through for garbage in the middle of a search
