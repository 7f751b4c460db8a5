"""Candidate pairs for a model: ranked by what costs little, the best of them counted in full.

A linear model's decision is a sum over blocks. What v1, v2 and the pair's statistics (how often, in which order, how
strongly associated) add is known from the words' own vectors and from the enumeration; what v12 and the product of v1
and v2 add is not. Candidates are ranked by the first part, and the best are counted to know the second.

Where one word is fixed, most of the time would go into the vectors of the words that it co-occurs with. So candidates
are ranked by the decision from the first observations of each word and pair, and the best are counted in full.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.candidates import Candidates, candidate_batches, join_candidates
from bagpack.contexts.distribute import no_rows
from bagpack.contexts.source import ContextSource
from bagpack.contexts.targets import Target
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.strings import Strings
from bagpack.errors import InputError, UsageError
from bagpack.find.scores import label_score, word_scores
from bagpack.find.similar import SimilarExamples
from bagpack.find.vocabulary import Vocabulary, corpus_of, corpus_vocabulary
from bagpack.learn.block_weighting import BlockWeighting, same_weightings
from bagpack.learn.design import ProductBlock, RowBlock
from bagpack.learn.features import statistics_of
from bagpack.learn.model import LinearModel
from bagpack.learn.types import Label
from bagpack.names import STATISTICS
from bagpack.parallel import Progress, counter, on_threads
from bagpack.sources import as_source
from bagpack.vectors.matrix import BlockMatrix
from bagpack.vectors.tables import KEY_SEPARATOR, CountTables, PairTable, WordTable

Floats = NDArray[np.float64]
I64 = NDArray[np.int64]

PMI = 3  # its column among the statistics
MIN_COUNT = 5
SCORED = 100_000  # pairs that are counted in full
FIRST = 200  # observations of each word and pair that rank the candidates of a fixed word


@dataclass(frozen=True)
class CandidateOptions:
    """Which pairs are candidates.

    Parameters
    ----------
    w1, w2
        Only pairs with this word in this place.
    vocabulary
        The words that pairs are made of; None takes the frequent words of the corpus.
    min_count, min_together
        How often a word must occur, and a pair co-occur.
    scored
        How many of them are counted in full: those that the first ranking puts first.
    never_meeting
        How many pairs to add that never co-occur, but whose words score high.
    """

    w1: str | None = None
    w2: str | None = None
    vocabulary: Vocabulary | None = None
    min_count: int = MIN_COUNT
    min_together: int = 2
    scored: int = SCORED
    never_meeting: int = 0

    def __post_init__(self) -> None:
        for name, least in (("min_count", 1), ("min_together", 1), ("scored", 1), ("never_meeting", 0)):
            value = getattr(self, name)
            if value < least:
                raise UsageError(f"--{name.replace('_', '-')} must be at least {least}, not {value}")
        if self.w1 is not None and self.w1 == self.w2:
            raise UsageError(f"--w1 and --w2 are the same word, {self.w1}; give two words, or one of them")

    @property
    def one_direction(self) -> bool:
        """Whether a word is fixed, so that only one order is asked for."""
        return self.w1 is not None or self.w2 is not None


@dataclass(frozen=True, eq=False)
class PoolFeatures:
    """The weighted features of a pool's pairs in the first order, and in the second where both are possible."""

    weightings: tuple[BlockWeighting, ...]
    orders: tuple[tuple[RowBlock | ProductBlock, ...], ...]

    def fit(self, model: LinearModel) -> bool:
        """Whether the model makes the same features."""
        return same_weightings(self.weightings, model.weightings)


@dataclass(frozen=True, eq=False)
class Pool:
    """Candidates counted in full, ready to be scored by any model over the same basis.

    Attributes
    ----------
    matrix
        The pairs in the first order.
    both
        Whether each pair may be in the relation in either order.
    candidates
        How many pairs there were before the cheap ranking.
    similar
        What is added to the model's decision values where one word is fixed and the examples are known.
    """

    source: ContextSource
    matrix: BlockMatrix
    both: bool
    candidates: int
    unknown: tuple[str, ...] = ()
    similar: SimilarExamples | None = None

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def reversed(self) -> BlockMatrix:
        """The pairs in the second order; the counts are shared."""
        return BlockMatrix.make(self.matrix.tables, self.matrix.rows[:, ::-1].copy())

    def features(self, model: LinearModel) -> PoolFeatures:
        """The pairs as the model weights them, for models that are trained again and again."""
        orders = [self.matrix, self.reversed] if self.both else [self.matrix]
        return PoolFeatures(model.weightings, tuple(tuple(model.weighted(own)) for own in orders))

    def oriented(
        self, model: LinearModel, label: Label = None, features: PoolFeatures | None = None
    ) -> tuple[BlockMatrix, Floats]:
        """Each pair in the order that the model prefers for the label, and the model's decision values."""

        def decide(matrix: BlockMatrix, order: int) -> Floats:
            return model.decisions(matrix) if features is None else model.decide(features.orders[order])

        decisions = decide(self.matrix, 0)
        if not self.both:
            return self.matrix, decisions
        backward = self.reversed
        others = decide(backward, 1)
        totals = self.matrix.totals
        better = label_score(model, others, label, totals) > label_score(model, decisions, label, totals)
        rows = np.where(better[:, None], backward.rows, self.matrix.rows)
        return BlockMatrix.make(self.matrix.tables, rows), np.where(better[:, None], others, decisions)


def collect_pool(
    corpus: Corpus | ContextSource, model: LinearModel, label: Label = None,
    options: CandidateOptions | None = None, *, similar: SimilarExamples | None = None,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> Pool:  # fmt: skip
    """Enumerate the candidates of a corpus, rank them by what costs little, and count the best in full."""
    options = options or CandidateOptions()
    source = as_source(corpus)
    search = _Search(source, model, label, options, n_jobs, progress, similar)
    with on_threads() if options.one_direction else nullcontext():
        best = search.best()
        matrix = search.count(best)
        if options.never_meeting:
            matrix = search.add_never_meeting(matrix, best)
    unknown = () if options.vocabulary is None else options.vocabulary.unknown
    return Pool(source, matrix, not options.one_direction, search.candidates, unknown, similar)


def pool_batches(
    corpus: Corpus | ContextSource, model: LinearModel, label: Label = None,
    options: CandidateOptions | None = None, *, n_jobs: int | None = None, progress: Progress | None = None,
) -> Iterator[Pool]:  # fmt: skip
    """All candidates, counted in full in parts of at most ``scored`` pairs, without a cheap ranking."""
    options = options or CandidateOptions()
    source = as_source(corpus)
    search = _Search(source, model, label, options, n_jobs, progress)
    for batch in search.batches():
        for start in range(0, len(batch), options.scored):
            part = batch.take(slice(start, start + options.scored))
            yield Pool(source, search.count(part), not options.one_direction, len(part))


class _Search:
    """One search for candidates: the vocabulary, the words' vectors, and what each word adds to a decision."""

    def __init__(
        self, source: ContextSource, model: LinearModel, label: Label, options: CandidateOptions,
        n_jobs: int | None, progress: Progress | None, similar: SimilarExamples | None = None,
    ) -> None:  # fmt: skip
        if model.basis is None or model.counting is None:
            raise UsageError("the model was trained on a plain matrix, so it cannot count pairs")
        self.source, self.corpus = source, corpus_of(source)
        self.model, self.label, self.options = model, label, options
        self.basis, self.settings = model.basis, model.counting
        self.n_jobs, self.progress, self.similar = n_jobs, progress, similar
        self.candidates = 0
        self.w1, self.w2 = (self._fixed(word) for word in (options.w1, options.w2))
        vocabulary = options.vocabulary
        if vocabulary is None:
            vocabulary = corpus_vocabulary(source, min_count=options.min_count)
        given = {
            target: word
            for target, word in ((self.w1, options.w1), (self.w2, options.w2))
            if target is not None and word is not None
        }
        self.vocabulary = replace(vocabulary, names={**vocabulary.names, **given})
        self.tables: CountTables | None = None

    def _fixed(self, word: str | None) -> Target | None:
        if word is None:
            return None
        target = self.source.resolve([word])[0]
        if target is None:
            raise InputError(f"the corpus does not contain {word!r}; give another word")
        return target

    # Candidates -------------------------------------------------------------------------------------------------

    def batches(self) -> Iterator[Candidates]:
        """Candidates in parts of limited size."""
        targets = self.vocabulary.targets
        total = 1 if self.options.one_direction else len(targets)
        for batch in candidate_batches(
            self.corpus, targets, w1=self.w1, w2=self.w2, windows=self.settings.windows,
            min_count=self.options.min_count, min_together=self.options.min_together, n_jobs=self.n_jobs,
            progress=counter(self.progress, "candidates", total),
        ):  # fmt: skip
            self.candidates += len(batch)
            yield batch

    def best(self) -> Candidates:
        """The candidates that the first ranking puts first, limited to the number that is scored in full.

        Equal scores are in the order of the words' numbers, so that the choice does not depend on the batches.
        """
        kept: Candidates | None = None
        for batch in self.batches():
            kept = batch if kept is None else join_candidates([kept, batch])
            if len(kept) > 2 * self.options.scored:
                kept = self._cut(kept)
        assert kept is not None  # there is at least one batch
        kept = self._cut(kept)
        return kept.take(np.lexsort((kept.second, kept.first)))

    def _cut(self, found: Candidates) -> Candidates:
        if len(found) <= self.options.scored:
            return found
        scores = self.first_scores(found) if self.options.one_direction else self.cheap_scores(found)
        order = np.lexsort((found.second, found.first, -scores))
        return found.take(order[: self.options.scored])

    def first_scores(self, found: Candidates) -> Floats:
        """What the model gives to the pairs if only the first observations of each word and pair are counted."""
        few = copy(self)
        few.settings = replace(self.settings, limit=min(FIRST, self.settings.limit or FIRST))
        few.options = replace(self.options, never_meeting=0)
        matrix = few.count(found)
        scores = label_score(self.model, self.model.decisions(matrix), self.label, _totals(found))
        return scores if self.similar is None else scores + self.similar.added(matrix)

    # Cheap scores -----------------------------------------------------------------------------------------------

    def cheap_scores(self, found: Candidates) -> Floats:
        """What is known of the decision without the pair's own contexts, in the better order."""
        self._count_words(found)
        one, two = self.word_scores
        totals = _totals(found)
        first, second = self._rows(found)
        forward: Floats = one[first] + two[second] + self._statistics(totals)
        backward = one[second] + two[first] + self._statistics(totals[:, [1, 0, 3, 2]])
        return np.maximum(forward, backward)

    def _statistics(self, totals: I64) -> Floats:
        """What the pair's statistics add; of a model without them, its PMI."""
        values = statistics_of(totals, self.basis, self.settings)
        output, sign = self.model.output_of(self.label)
        for weighting, weights in zip(self.model.weightings, self.model.weights, strict=True):
            if weighting.name == STATISTICS:
                added: Floats = sign * weighting.factor * (values @ weights[:, output])
                return added
        pmi: Floats = values[:, PMI]
        return pmi

    def _count_words(self, found: Candidates) -> None:
        """Vectors of the words of the candidates, once: all of them, or those that a fixed word co-occurs with."""
        if self.tables is not None:
            return
        used = np.arange(len(found.words))
        if self.options.one_direction and not self.options.never_meeting:
            used = np.unique(np.concatenate([found.first, found.second]))
        self.row_of = np.full(len(found.words), -1, np.int64)
        self.row_of[used] = np.arange(used.size)
        targets = [found.words[k] for k in used.tolist()]
        rows, occurring = self.source.count_words(
            targets, self.basis, self.settings, self.n_jobs, counter(self.progress, "words", len(targets))
        )
        nothing = np.zeros((0, 2), np.int64)
        self.tables = CountTables(
            Strings.of(self._names(targets)), np.arange(len(targets)),
            WordTable(Strings.of(KEY_SEPARATOR.join(target.keys) for target in targets), rows, occurring),
            PairTable(nothing, no_rows(0, 6 * len(self.basis)), nothing, nothing),
            self.basis, self.settings, self.source.name, self.source.content_hash,
        )  # fmt: skip

    @cached_property
    def word_scores(self) -> tuple[Floats, Floats]:
        """What each counted word adds to the label's decision."""
        assert self.tables is not None
        return word_scores(self.model, self.tables, self.label)

    def _names(self, targets: Sequence[Target]) -> list[str]:
        """A name for each, none twice."""
        names = [self.vocabulary.name(target) for target in targets]
        if len(set(names)) < len(names):
            taken = {str(target) for target in targets}
            names = [
                name if name == str(target) or name not in taken else str(target)
                for name, target in zip(names, targets, strict=True)
            ]
        return names

    def _rows(self, found: Candidates) -> tuple[I64, I64]:
        return self.row_of[found.first], self.row_of[found.second]

    # Full vectors -----------------------------------------------------------------------------------------------

    def count(self, found: Candidates) -> BlockMatrix:
        """The pairs, counted as the model's training pairs were."""
        self._count_words(found)
        return self._counted(np.stack(self._rows(found), axis=1))

    def _counted(self, rows: I64) -> BlockMatrix:
        tables = self.tables
        assert tables is not None
        empty = BlockMatrix.make(tables, np.zeros((0, 2), np.int64))
        names = tables.name_list
        pairs = [(names[one], names[two]) for one, two in rows.tolist()]
        return empty.grow(self.source, pairs, self.n_jobs, self.progress)

    def add_never_meeting(self, matrix: BlockMatrix, found: Candidates) -> BlockMatrix:
        """More pairs, with the highest word scores among those that never co-occur."""
        one, two = self.word_scores
        number = {target: k for k, target in enumerate(found.words)}
        firsts = np.array([self.row_of[number[self.w1]]]) if self.w1 in number else np.arange(one.size)
        seconds = np.array([self.row_of[number[self.w2]]]) if self.w2 in number else np.arange(two.size)
        if self.similar is not None and len(fixed := (firsts, seconds)[self.similar.side]) == 1:
            assert self.tables is not None
            added = self.similar.added_to_words(self.tables, int(fixed[0]))
            one, two = (one, two + added) if self.similar.side == 0 else (one + added, two)
        wanted = 2 * self.options.never_meeting
        few = min(len(firsts), len(seconds))
        side = wanted if few == 1 else max(few and 50, math.isqrt(4 * wanted))
        firsts = firsts[np.argsort(-one[firsts], kind="stable")][:side]
        seconds = seconds[np.argsort(-two[seconds], kind="stable")][:side]
        rows = np.stack(np.meshgrid(firsts, seconds, indexing="ij"), axis=-1).reshape(-1, 2)
        rows = rows[rows[:, 0] != rows[:, 1]]
        rows = rows[np.argsort(-(one[rows[:, 0]] + two[rows[:, 1]]), kind="stable")][:wanted]
        _, once = np.unique(np.sort(rows, axis=1), axis=0, return_index=True)
        more = self._counted(rows[np.sort(once)])
        apart = np.flatnonzero(more.seen == 0)[: self.options.never_meeting]
        return matrix.grow(self.source, more.select(apart).pairs, self.n_jobs)


def _totals(found: Candidates) -> I64:
    """n(w1), n(w2), n+ and n− of each pair."""
    words = (found.n_words[found.first], found.n_words[found.second])
    return np.stack([*words, found.n_plus, found.n_minus], axis=1).astype(np.int64)
