"""New pairs of a relation, ranked by a model: from a pool of candidates to rows for a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.concordance import Context
from bagpack.contexts.source import ContextSource
from bagpack.contexts.targets import Target
from bagpack.corpus.store.corpus import Corpus
from bagpack.errors import UsageError
from bagpack.find.examples import NO_LABELS
from bagpack.find.pool import (
    SCORED,
    CandidateOptions,
    Pool,
    PoolFeatures,
    collect_pool,
    pool_batches,
)
from bagpack.find.scores import label_score
from bagpack.find.vocabulary import Vocabulary, listed_vocabulary, read_vocabulary, targets_of
from bagpack.learn.model import LinearModel
from bagpack.learn.types import Label
from bagpack.numbers import many
from bagpack.parallel import Progress
from bagpack.sheets import Cell
from bagpack.sources import as_source
from bagpack.tasks.words import Pair
from bagpack.vectors.matrix import BlockMatrix

if TYPE_CHECKING:
    from bagpack.find.training import Trained

TOP = 500
PER_WORD = 5
FEWEST_SCORED, SCORED_PER_SHOWN = 300, 10  # candidates of one word that are counted in full: docs/finding.md
COLUMNS = (
    "rank", "w1", "w2", "probability", "score", "together", "n_w1", "n_w2", "known", "sentence", "document",
)  # fmt: skip


@dataclass(frozen=True)
class FoundPair:
    """A pair that a model found.

    Attributes
    ----------
    probability, score
        Calibrated probability of the label (None if the model has none), and its decision value; where one word is
        fixed and the examples are known, the value has what similar examples add.
    together, n_w1, n_w2
        How often the pair co-occurs and the words occur in the corpus.
    known
        Whether it is an example or a pair of the list of known ones.
    sentence, document
        The sentence with the highest score, and its document; empty if the pair never co-occurs.
    """

    rank: int
    w1: str
    w2: str
    probability: float | None
    score: float
    together: int
    n_w1: int
    n_w2: int
    known: bool = False
    sentence: str = ""
    document: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For JSON, and for rows of a data frame."""
        return asdict(self)


@dataclass(frozen=True)
class Found(Sequence[FoundPair]):
    """The pairs found, best first; a sequence of rows.

    ``pandas.DataFrame(found.to_dicts())`` is a table of them. ``lines`` has the sentences in their parts, for
    highlighting; ``notes`` what a reader must know.
    """

    label: str
    rows: tuple[FoundPair, ...]
    candidates: int
    scored: int
    notes: tuple[str, ...] = ()
    lines: tuple[Context | None, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    @property
    def title(self) -> str:
        """For a page; examples without a label have no relation to name."""
        from bagpack.find.examples import UNNAMED

        return "Pairs found" if self.label == UNNAMED else f"Pairs found: {self.label}"

    def to_dicts(self) -> list[dict[str, Any]]:
        """Each row as a dictionary."""
        return [row.to_dict() for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "label": self.label,
            "candidates": self.candidates,
            "scored": self.scored,
            "notes": list(self.notes),
            "pairs": self.to_dicts(),
        }

    def table(self) -> list[list[Cell]]:
        """A header and the rows, for a file."""
        return [list(COLUMNS), *([getattr(row, name) for name in COLUMNS] for row in self.rows)]


def find_pairs(
    corpus: Corpus | ContextSource | str, model: LinearModel | Trained, label: Label = None, *,
    w1: str | None = None, w2: str | None = None, among: Vocabulary | Iterable[str] | str | None = None,
    known: Iterable[Pair] = (), mark_known: bool = False, min_count: int = 5, min_together: int = 2, top: int = TOP,
    per_word: int | None = PER_WORD, scored: int | None = None, never_meeting: int = 0, sentences: bool = True,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> Found:  # fmt: skip
    """Rank new pairs of the whole corpus by the probability that a model gives them.

    Parameters
    ----------
    model, label
        A model of labels, and which of them to find; None: of two labels, the one that is not `no`. Or what
        `train_on_examples` returned, whose examples then help where a word is fixed.
    w1, w2
        Only pairs with this word in this place. The partners that similar words have in the examples rank higher; see
        `bagpack.find.similar`.
    among
        The words and multi-word terms that pairs are made of, or a file with one on each line. None takes the 20,000
        most frequent words of the corpus without its function words.
    known
        Pairs to exclude, in either order, in addition to the model's training pairs; with ``mark_known`` they are
        kept and marked.
    min_count, min_together
        How often a word must occur, and a pair co-occur.
    top
        How many pairs to return.
    per_word
        At most this many pairs with the same word in the same place; None for no limit. The word that ``w1`` or ``w2``
        fixes is exempt.
    scored
        How many candidates get full vectors: those that a first ranking puts first; see `bagpack.find.pool`. None:
        100,000, and with ``w1`` or ``w2`` ten times ``top``, but at least 300.
    never_meeting
        How many pairs to consider that never co-occur, but whose words score high.
    sentences
        Whether to look for the best sentence of each pair.

    Examples
    --------
    >>> found = find_pairs(corpus, model, "part-of", w2="car", top=20)  # doctest: +SKIP
    >>> pandas.DataFrame(found.to_dicts())  # doctest: +SKIP
    """
    source = as_source(corpus)
    similar = None
    if not isinstance(model, LinearModel):
        if (w1 is None) != (w2 is None):
            similar = model.similar(0 if w2 is None else 1)
        model = model.model
    label = label_to_find(model, label)
    if scored is None:
        scored = SCORED if w1 is None and w2 is None else max(FEWEST_SCORED, SCORED_PER_SHOWN * top)
    options = _options(source, w1, w2, among, min_count, min_together, scored, never_meeting)
    pool = collect_pool(source, model, label, options, similar=similar, n_jobs=n_jobs, progress=progress)
    found = rank_pool(
        pool, model, label, known=known, mark_known=mark_known, top=top, per_word=per_word,
        fixed=(w1 is not None, w2 is not None),
    )  # fmt: skip
    return add_sentences(found, source, model, progress) if sentences else found


def iter_pairs(
    corpus: Corpus | ContextSource | str, model: LinearModel, label: Label = None, *,
    min_probability: float = 0.5, w1: str | None = None, w2: str | None = None,
    among: Vocabulary | Iterable[str] | str | None = None, known: Iterable[Pair] = (), min_count: int = 5,
    min_together: int = 2, n_jobs: int | None = None, progress: Progress | None = None,
) -> Iterator[FoundPair]:  # fmt: skip
    """All candidates with a probability of at least ``min_probability``, as they are found.

    Every candidate is counted in full, in the order of the words' frequency, and memory does not grow with their
    number; ``rank`` is 0, since there is no ranking, and there are no sentences. Models without probabilities give
    those with a positive score.
    """
    source = as_source(corpus)
    label = label_to_find(model, label)
    options = _options(source, w1, w2, among, min_count, min_together, SCORED, 0)
    excluded = KnownPairs(source, known)
    for pool in pool_batches(source, model, label, options, n_jobs=n_jobs, progress=progress):
        scores = PoolScores.of(pool, model, label)
        sure = scores.score > 0 if scores.probability is None else scores.probability >= min_probability
        marked = excluded.mark(scores.matrix, model)
        for index in np.flatnonzero(sure & ~marked).tolist():
            yield scores.row(index, 0, False)


def label_to_find(model: LinearModel, label: Label) -> Label:
    """The label that is looked for; an error where the model leaves a choice and none is made."""
    if model.kind == "rating":
        if label is not None:
            raise UsageError(f"the model predicts ratings, so there is no label {label!r}")
        return None
    if label is None:
        labels = [own for own in model.classes if str(own).lower() not in NO_LABELS]
        if len(labels) != 1:
            shown = ", ".join(map(str, model.classes))
            raise UsageError(f"the model has several labels; choose the one to find with --label: {shown}")
        return labels[0]
    return model.label_named(label)


def _options(
    source: ContextSource, w1: str | None, w2: str | None, among: Vocabulary | Iterable[str] | str | None,
    min_count: int, min_together: int, scored: int, never_meeting: int,
) -> CandidateOptions:  # fmt: skip
    vocabulary = None
    if isinstance(among, Vocabulary):
        vocabulary = among
    elif isinstance(among, str):
        vocabulary = read_vocabulary(source, among)
    elif among is not None:
        vocabulary = listed_vocabulary(source, among)
    return CandidateOptions(w1, w2, vocabulary, min_count, min_together, scored, never_meeting)


# Ranking --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PoolScores:
    """A pool under a model: each pair in its better order, with score, probability, and the value it is ranked by."""

    matrix: BlockMatrix
    value: NDArray[np.float64]
    score: NDArray[np.float64]
    probability: NDArray[np.float64] | None
    totals: NDArray[np.int64]
    together: NDArray[np.int64]

    @classmethod
    def of(
        cls, pool: Pool, model: LinearModel, label: Label, features: PoolFeatures | None = None
    ) -> PoolScores:
        """Score a pool; ``features`` are those of the pool, where they were computed before."""
        matrix, decisions = pool.oriented(model, label, features)
        output, sign = model.output_of(label)
        score = sign * decisions[:, output]
        probability = None
        if pool.similar is not None:
            score = value = score + pool.similar.added(matrix)
            if pool.similar.curve is not None:
                probability = pool.similar.curve(score)
        else:
            value = label_score(model, decisions, label, matrix.totals)
            if model.calibration is not None:
                probability = model.probabilities(decisions)[:, model.classes.index(label)]
        return cls(matrix, value, score, probability, matrix.totals, matrix.seen)

    def order(self) -> NDArray[np.int64]:
        """Best first: by what pairs are ranked by, then by score, then by the words."""
        names = self.matrix.tables.name_list
        rank = np.empty(len(names), np.int64)
        rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        first, second = rank[self.matrix.rows[:, 0]], rank[self.matrix.rows[:, 1]]
        return np.lexsort([second, first, -self.score, -self.value])

    def row(self, index: int, rank: int, known: bool) -> FoundPair:
        """A pair of the pool as a result."""
        w1, w2 = (self.matrix.tables.name_list[k] for k in self.matrix.rows[index].tolist())
        n_w1, n_w2 = self.totals[index, :2].tolist()
        probability = None if self.probability is None else round(float(self.probability[index]), 6)
        return FoundPair(
            rank, w1, w2, probability, round(float(self.score[index]), 6), int(self.together[index]), n_w1, n_w2, known
        )  # fmt: skip


class KnownPairs:
    """Pairs that are known, as the corpus understands them, in either order."""

    def __init__(self, source: ContextSource, pairs: Iterable[Pair]) -> None:
        listed = list(pairs)
        target = targets_of(source, listed)
        self.pairs: set[frozenset[Target | None]] = {
            frozenset((target[one], target[two])) for one, two in listed
        }

    def mark(self, matrix: BlockMatrix, model: LinearModel) -> NDArray[np.bool_]:
        """Which pairs are known, or were trained on."""
        marked = model.trained_on(matrix.pairs)
        marked |= model.trained_on([(two, one) for one, two in matrix.pairs])
        if self.pairs:
            targets = matrix.words.targets
            own = matrix.tables.name_targets[matrix.rows].tolist()
            marked |= np.array([frozenset((targets[a], targets[b])) in self.pairs for a, b in own], np.bool_)
        return marked


def rank_pool(
    pool: Pool, model: LinearModel, label: Label = None, *, known: Iterable[Pair] = (), mark_known: bool = False,
    top: int = TOP, per_word: int | None = PER_WORD, fixed: tuple[bool, bool] = (False, False),
) -> Found:  # fmt: skip
    """The best pairs of a pool under a model; see `find_pairs`. Training pairs count as known."""
    check_limits(top, per_word)
    label = label_to_find(model, label)
    scores = PoolScores.of(pool, model, label)
    marked = KnownPairs(pool.source, known).mark(scores.matrix, model)
    limits = [None if is_fixed else per_word for is_fixed in fixed]
    used: tuple[dict[int, int], dict[int, int]] = ({}, {})
    rows: list[FoundPair] = []
    limited = 0
    for index in scores.order().tolist():
        if len(rows) == top:
            break
        if marked[index] and not mark_known:
            continue
        pair = scores.matrix.rows[index].tolist()
        if any(
            limit is not None and counts.get(word, 0) >= limit
            for word, counts, limit in zip(pair, used, limits, strict=True)
        ):
            limited += 1
            continue
        for word, counts in zip(pair, used, strict=True):
            counts[word] = counts.get(word, 0) + 1
        rows.append(scores.row(index, len(rows) + 1, bool(marked[index])))
    notes = [_searched(pool)]
    if pool.similar is not None:
        notes.append("partners of similar words in the examples rank higher")
    if limited:
        notes.append(
            f"{many(limited, 'pair')} skipped: {per_word} with the same word are listed already (--per-word)"
        )
    if not mark_known and (hidden := int(marked.sum())):
        notes.append(
            f"{many(hidden, 'known pair')} excluded (--mark-known shows {'it' if hidden == 1 else 'them'})"
        )
    if pool.unknown:
        shown = ", ".join(pool.unknown[:5]) + (" …" if len(pool.unknown) > 5 else "")
        notes.append(f"{many(len(pool.unknown), 'term')} of the list not in the corpus: {shown}")
    return Found(str(label), tuple(rows), pool.candidates, len(pool), tuple(notes))


def check_limits(top: int, per_word: int | None) -> None:
    """Raise for a list that could hold nothing."""
    if top < 1:
        raise UsageError(f"--top must be at least 1, not {top}")
    if per_word is not None and per_word < 1:
        raise UsageError(f"--per-word must be at least 1, or none, not {per_word}")


def _searched(pool: Pool) -> str:
    if not len(pool):
        return "there are no candidate pairs: no two words co-occur often enough; lower --min-count and --min-together"
    if pool.candidates <= len(pool):
        return f"{many(pool.candidates, 'candidate pair')}, all scored in full"
    return f"{pool.candidates:,} candidate pairs, the best {len(pool):,} scored in full"


def add_sentences(
    found: Found, source: ContextSource, model: LinearModel, progress: Progress | None = None
) -> Found:
    """The same rows with the best sentence of each."""
    from bagpack.find.sentences import best_lines

    if progress:
        progress("sentences", 0, 0)
    label = label_to_find(model, found.label if model.kind != "rating" else None)
    listed = best_lines(source, model, [(row.w1, row.w2) for row in found.rows], label, most=1)
    lines = tuple(own[0] if own else None for own in listed)
    rows = tuple(
        row if line is None else replace(row, sentence=line.text, document=line.document)
        for row, line in zip(found.rows, lines, strict=True)
    )
    return replace(found, rows=rows, lines=lines)
