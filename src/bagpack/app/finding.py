"""Finding and teaching on a page: what is looked for, the answers, and the list that follows from them.

The functions run in the worker for searches, which keeps the candidates of the last searches in memory: a new answer
costs one training of a small model. What is looked for comes with each request, so that a worker that was killed, or
another visitor's search in between, costs time and nothing else.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bagpack import parallel
from bagpack.app.library import Library
from bagpack.app.pages import Near, near
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.corpus import Corpus
from bagpack.errors import UsageError
from bagpack.explain.explanation import Explanation
from bagpack.find.examples import UNNAMED, Examples, Pair
from bagpack.find.options import FindOptions
from bagpack.find.ranking import COLUMNS
from bagpack.find.teaching import Teaching
from bagpack.find.vocabulary import targets_of

SHOWN = 30
WARM = 3  # pairs of a search before the first one
MOST_PAIRS, LONGEST_WORD = 5_000, 200
SEARCHES = 2  # that are kept in memory
ROW_LINES = 5
SECONDS = 0.2  # between two notes of progress

Answer = tuple[str, str, bool]


@dataclass(frozen=True)
class Task:
    """What is looked for: examples, answers so far, and conditions on the pairs.

    `pos1` and `pos2` are parts of speech such as `noun,verb`, `any`, or nothing for those of the examples.
    """

    pairs: tuple[Pair, ...] = ()
    answers: tuple[Answer, ...] = ()
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

    @property
    def key(self) -> tuple[Any, ...]:
        """What a search depends on, without the answers."""
        return self.pairs, self.negatives, self.w1, self.w2, self.pos1, self.pos2, self.label


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
    answered: int = 0
    right: int = 0
    low: float | None = None
    high: float | None = None
    held_out: float | None = None
    before: float | None = None
    kept: bool = False


@dataclass(frozen=True)
class RowPage:
    """More about a pair that was found: sentences and reasons."""

    w1: str
    w2: str
    lines: list[dict[str, Any]]
    explanation: Explanation


@dataclass(frozen=True)
class Progress:
    """What the search is doing; a total of 0 is unknown, an empty `what` means that nothing is being computed."""

    what: str = ""
    done: int = 0
    total: int = 0


# In the worker -----------------------------------------------------------------------------------------------------

_searches: dict[tuple[Any, ...], Teaching] = {}  # the last used at the end


class ProgressFile:
    """Where a worker notes what it is doing, a few times a second, for the page that waits for it."""

    def __init__(self, path: str) -> None:
        self.path, self.last, self.sums = path, 0.0, Counter[str]()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Note progress."""
        self.sums[what] += done
        if time.monotonic() - self.last > SECONDS or not done:
            self.last = time.monotonic()
            own = f"{self.path}.{os.getpid()}"
            with suppress(OSError):
                Path(own).write_text(json.dumps([what, self.sums[what], total]))
                os.replace(own, self.path)


def read_progress(path: str) -> Progress:
    """What a worker noted last."""
    try:
        return Progress(*json.loads(Path(path).read_text()))
    except (OSError, ValueError, TypeError):
        return Progress()


def _search(library: Library, progress: str, task: Task) -> Teaching:
    """The candidates of a task: those that are kept, or new ones."""
    kept = _searches.pop(task.key, None)
    if kept is None:
        while len(_searches) >= SEARCHES:
            del _searches[next(iter(_searches))]
        asked = FindOptions(
            w1=task.w1.strip() or None, w2=task.w2.strip() or None, pos1=task.pos1 or None, pos2=task.pos2 or None
        )  # fmt: skip
        given = Examples(task.label, tuple(dict.fromkeys(task.pairs)), tuple(dict.fromkeys(task.negatives)))
        with parallel.settings(n_jobs=-1, progress=ProgressFile(progress)), parallel.on_threads():
            kept = Teaching.start(library.source, given, asked)
    _searches[task.key] = kept
    return kept


def search(library: Library, progress: str, task: Task, number: int = SHOWN) -> FindPage:
    """Find pairs, or rank them again after an answer."""
    if not isinstance(library.source, Corpus):
        raise UsageError("snippets hold only the pairs that were fetched; open a store to find new pairs")
    unknown = [word for word, target in targets_of(library.source, task.pairs).items() if target is None]
    teaching = _search(library, progress, task)
    answered = {(w1, w2): right for w1, w2, right in task.answers}
    with parallel.settings(n_jobs=-1), parallel.on_threads():
        ranking = teaching.rank(answered)
        chosen = ranking.questions(number)
        lines = teaching.lines([row.pair for row, _ in chosen], 1)
    scores = [row.score for row, _ in chosen]
    least, most = min(scores, default=0.0), max(scores, default=1.0)
    rows = []
    for (own, unsure), line in zip(chosen, lines, strict=True):
        share = (own.score - least) / ((most - least) or 1.0)
        shown = (line[0].pieces, line[0].document) if line else ((), "")
        rows.append(FoundRow(*own.pair, own.score, share, own.together, own.n_w1, own.n_w2, unsure, *shown))
    right = sum(answered.values())
    low, high = _interval(right, len(answered))
    return FindPage(
        rows, near(library, unknown), teaching.places.kind_names, teaching.pool.candidates,
        teaching.first.trained.notes, len(answered), right, low, high, ranking.held_out, ranking.before, ranking.kept,
    )  # fmt: skip


def _interval(right: int, number: int) -> tuple[float | None, float | None]:
    """The 95 % interval of a share (Wilson)."""
    if not number:
        return None, None
    from scipy.stats import binomtest

    found = binomtest(right, number).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


def row(library: Library, progress: str, task: Task, w1: str, w2: str) -> RowPage:
    """Sentences of a pair that was found, and why it was."""
    teaching = _search(library, progress, task)
    with parallel.settings(n_jobs=-1), parallel.on_threads():
        teaching.rank({(a, b): right for a, b, right in task.answers})
        found = teaching.lines([(w1, w2)], ROW_LINES)[0]
        why = teaching.explain((w1, w2))
    return RowPage(w1, w2, [{"pieces": line.pieces, "document": line.document} for line in found], why)


def table(library: Library, progress: str, task: Task, number: int = 500) -> list[list[Any]]:
    """What is known of the relation as a table: examples and answers first, then the pairs found."""
    page = search(library, progress, task, number)
    known: list[tuple[str, Sequence[str]]] = [("example", pair) for pair in task.pairs]
    known += [("yes" if right else "no", (w1, w2)) for w1, w2, right in task.answers]
    header = [*(name for name in COLUMNS if name != "reasons"), "answer"]
    rows: list[list[Any]] = [["", *pair, "", "", "", "", "", "", answer] for answer, pair in known]
    for rank, own in enumerate(page.rows, 1):
        sentence = "".join(own.pieces)
        counts = (own.together, own.n_w1, own.n_w2)
        rows.append([rank, own.w1, own.w2, round(own.score, 4), *counts, sentence, own.document, ""])
    return [header, *rows]


def warm_up(library: Library, search: bool) -> None:
    """Load what a search needs, if the store's word vectors were counted before; with `search`, by a search."""
    from bagpack.find.candidates import MIN_COUNT, MIN_TOGETHER, kept_candidates
    from bagpack.vectors.words import WordVectors, stored_vectors

    source = library.source
    if isinstance(source, Corpus) and stored_vectors(source.path) is not None:
        with parallel.settings(n_jobs=-1), parallel.on_threads():
            WordVectors.of(source)
            found = kept_candidates(source, CountSettings().windows, MIN_COUNT, MIN_TOGETHER)[0]
            if search and len(found) >= WARM:
                pairs = [(str(one), str(two)) for one, two in found.take(slice(WARM)).pairs()]
                Teaching.start(source, Examples(UNNAMED, tuple(pairs))).rank()


def task_from(given: Any) -> Task:
    """A task from JSON; anything that does not fit is a sentence."""
    if not isinstance(given, dict):
        raise UsageError("a search is a JSON object with pairs")
    try:
        w1, w2, pos1, pos2 = (str(given.get(name) or "") for name in ("w1", "w2", "pos1", "pos2"))
        pairs = tuple((str(one), str(two)) for one, two in given.get("pairs") or ())
        answers = tuple((str(one), str(two), bool(right)) for one, two, right in given.get("answers") or ())
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"a search has pairs [w1, w2] and answers [w1, w2, true or false]: {error}"
        ) from None
    return Task(pairs, answers, w1, w2, pos1, pos2)
