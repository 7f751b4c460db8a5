"""Candidate pairs of a search: all pairs of vocabulary words that co-occur, of which the best are counted in full.

A first pass costs little: it adds what the model gives to each of the two words and to the pair's statistics. Those
that it ranks highest, by themselves and together with how well the words fit the relation's places, are the pool.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.candidates import Candidates, candidate_batches, join_candidates
from bagpack.contexts.targets import ContextSource, Target
from bagpack.contexts.windows import Windows
from bagpack.corpus.corpus import Corpus
from bagpack.errors import InputError
from bagpack.find.options import FindOptions
from bagpack.find.slots import Places, slot_scores
from bagpack.find.training import Trained
from bagpack.find.vocabulary import corpus_of, corpus_vocabulary, vocabulary_of
from bagpack.learn.features import STATISTICS_FACTOR, Features, statistics_of
from bagpack.learn.model import LinearModel
from bagpack.names import STATISTICS
from bagpack.parallel import delayed, run_threads
from bagpack.tasks.pairs import BACKGROUND
from bagpack.vectors.counts import PairCounts, cache_of, count_pairs

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
I64 = NDArray[np.int64]

PMI = 3  # its column among the statistics
MIN_COUNT, MIN_TOGETHER = 5, 2
AT_ONCE = 1_000_000  # candidates that are held before those with low scores are dropped
TINY = 1e-9  # probabilities are at least this far from 0 and 1


def label_score(model: LinearModel, decisions: Floats, label: Any, totals: I64) -> Floats:
    """What a model ranks pairs by: the label's decision value or, where labels compete, its log odds.

    A model that was trained without background pairs has to give each pair one of its labels; to its log odds the PMI
    of the two words is added, since most pairs that co-occur by chance are in no relation: docs/finding.md. ``totals``
    has n(w1), n(w2), n+, n− and n of each pair.
    """
    if model.kind == "multiclass" and model.calibrated.calibration is not None:
        probability = model.probabilities(decisions)[:, model.classes.index(label)]
        certain = np.clip(probability, TINY, 1 - TINY)
        odds: Floats = np.log(certain) - np.log1p(-certain)
        if not model.manifest.get(BACKGROUND):
            n1, n2, _, _, seen = totals.astype(np.float64).T
            odds += np.log(np.maximum(seen, 0.5) * max(model.basis.tokens, 1) / np.maximum(n1 * n2, 1))
        return odds
    output, sign = model.output_of(label)
    score: Floats = sign * decisions[:, output]
    return score


# The pool -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pool:
    """Candidates counted in full, ready to be scored by any model over the same basis.

    Attributes
    ----------
    counts
        The pairs in the first order.
    candidates
        How many pairs there were before the first pass.
    unknown
        Terms of the user's list that the corpus does not contain.
    """

    source: ContextSource
    counts: PairCounts
    candidates: int
    asked: FindOptions
    unknown: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.counts)

    def _orders(self) -> list[PairCounts]:
        """Both orders of the pairs, or the one that was asked for."""
        return [self.counts] if any(self.asked.fixed) else [self.counts, self.counts.reversed()]

    def features(self, model: LinearModel) -> list[Features]:
        """The features of the pairs in each order, for models that are trained again and again."""
        return run_threads(delayed(model.features)(own) for own in self._orders())

    def scored(
        self, model: LinearModel, label: Any, places: Places | None, features: list[Features] | None = None
    ) -> ScoredPool:
        """Each pair in its better order, with the model's score and the value that it is ranked by."""
        orders = self._orders()
        decisions = [model.decide(own) for own in features or self.features(model)]
        scores = np.stack(
            [label_score(model, own, label, rows.totals) for own, rows in zip(decisions, orders, strict=True)]
        )
        values, allowed, weight = scores, np.ones(scores.shape, np.bool_), 0.0
        if places is not None and len(self):
            values, allowed, weight = self._with_slots(scores, places)
        better = values.argmax(axis=0)
        counts = orders[0]
        if len(orders) > 1:
            rows = np.where(better[:, None], orders[1].rows, counts.rows)
            counts = replace(counts, rows=rows, swapped=np.where(better, orders[1].swapped, counts.swapped))
        chosen = better, np.arange(len(better))
        return ScoredPool(counts, values[chosen], scores[chosen], allowed[chosen], weight)

    def _with_slots(self, scores: Floats, places: Places) -> tuple[Floats, Bools, float]:
        """Values with the fit of the words; where it counts, pairs of other parts of speech are not allowed."""
        targets = [target for target in self.counts.targets if target is not None]  # all of them
        rows = (
            self.counts.rows
            if len(scores) == 1
            else np.concatenate([self.counts.rows, self.counts.rows[:, ::-1]])
        )
        first_kind, second_kind = places.of_kind(targets)
        of_kind = first_kind[rows[:, 0]] & second_kind[rows[:, 1]]
        examples = [(len(targets) + 2 * k, len(targets) + 2 * k + 1) for k in range(len(places.positives))]
        values, weight = slot_scores(
            places.slots(targets), rows[:, 0], rows[:, 1], scores.ravel(), examples, places.held_out, of_kind
        )
        if not weight and self.asked.pos1 is None and self.asked.pos2 is None:
            of_kind = np.ones(len(of_kind), np.bool_)
        values = np.where(of_kind, values, -np.inf)
        return values.reshape(scores.shape), of_kind.reshape(scores.shape), weight


@dataclass(frozen=True, eq=False)
class ScoredPool:
    """A pool under a model: each pair in its better order.

    ``value`` is what pairs are ranked by, ``score`` the model's own; ``weight`` is that of the words' fit.
    """

    counts: PairCounts
    value: Floats
    score: Floats
    allowed: Bools
    weight: float

    def order(self) -> I64:
        """Best first: by value, then by the model's score, then by the words; pairs of other kinds are excluded."""
        names = self.counts.name_list
        rank = np.empty(len(names), np.int64)
        rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        first, second = rank[self.counts.rows].T
        order = np.lexsort([second, first, -self.score, -self.value])
        return order[self.allowed[order]]


# The first pass -------------------------------------------------------------------------------------------------


def collect_pool(
    source: ContextSource, model: LinearModel, label: Any, asked: FindOptions, trained: Trained | None = None,
    places: Places | None = None, keep: bool = False,
) -> Pool:  # fmt: skip
    """Enumerate the candidates of a corpus, rank them by what costs little, and count the best in full.

    With ``keep``, the candidates of the whole corpus stay in memory for the next search.
    """
    corpus = corpus_of(source)
    given = [None if word is None else _given(source, word) for word in (asked.w1, asked.w2)]
    own = (MIN_COUNT, MIN_TOGETHER) if asked.among is None else (1, 1)
    least = asked.min_count or own[0], asked.min_together or own[1]
    windows = model.counting.windows
    vocabulary = vocabulary_of(source, asked.among, least[0])
    batches: Iterable[Candidates]
    if keep and asked.among is None and not any(asked.fixed):
        batches = kept_candidates(corpus, windows, *least)
    else:
        batches = candidate_batches(
            corpus, vocabulary.targets, w1=given[0], w2=given[1], windows=windows, min_count=least[0],
            min_together=least[1],
        )  # fmt: skip
    number = held = 0
    chosen: list[Candidates] = []
    words: _Words | None = None
    for batch in batches:
        number += len(batch)
        words = words or _Words.of(source, batch, model, label, asked, places, trained)
        chosen.append(batch)
        held += len(batch)
        if held > AT_ONCE:
            chosen = [words.best(join_candidates(chosen))]
            held = len(chosen[0])
    assert words is not None  # there is at least one batch
    best = words.best(join_candidates(chosen))
    if not keep:
        _last_rows.clear()
    best = best.take(np.lexsort((best.second, best.first)))
    written = {own: word for own, word in zip(given, (asked.w1, asked.w2), strict=True) if own and word}
    names = _names(words.targets, {**vocabulary.names, **written})
    rows = zip(words.row[best.first].tolist(), words.row[best.second].tolist(), strict=True)
    counts = count_pairs(
        source, [(names[a], names[b]) for a, b in rows], model.basis, model.counting,
        cache_of(source, model.basis, model.counting), dict(zip(names, words.targets, strict=True)),
    )  # fmt: skip
    return Pool(source, counts, number, asked, vocabulary.unknown)


def _given(source: ContextSource, word: str) -> Target:
    target = source.resolve([word])[0]
    if target is None:
        raise InputError(f"the corpus does not contain {word!r}; give another word")
    return target


def _names(targets: list[Target], written: dict[Target, str]) -> list[str]:
    """A name for each, as the user or the corpus writes it, none twice."""
    own = [str(target) for target in targets]
    names = [written.get(target, name) for target, name in zip(targets, own, strict=True)]
    if len(set(names)) == len(names):
        return names
    return [name if name not in own else plain for name, plain in zip(names, own, strict=True)]


@lru_cache(maxsize=1)
def kept_candidates(
    corpus: Corpus, windows: Windows, min_count: int, min_together: int
) -> tuple[Candidates, ...]:
    """All candidates of a corpus: 16 bytes each, about 100 MB for 72 million tokens, which take 4 s to find."""
    vocabulary = corpus_vocabulary(corpus, min_count=min_count)
    return tuple(
        candidate_batches(
            corpus, vocabulary.targets, windows=windows, min_count=min_count, min_together=min_together
        )
    )


@dataclass(eq=False)
class _Words:
    """The words of candidates, and what each adds to a score.

    ``row`` has each candidate word's place among the targets; ``one`` and ``two`` what the model adds for it as first
    and as second word; ``fits`` how well it fits each place. ``spread`` has the standard deviations of scores and fits
    over pairs that were drawn, so that the two can be added.
    """

    targets: list[Target]
    row: I64
    one: Floats
    two: Floats
    model: LinearModel
    label: Any
    asked: FindOptions
    fits: tuple[Floats, Floats] | None = None
    kinds: tuple[Bools, Bools] | None = None
    spread: tuple[float, float] = (1.0, 1.0)

    @classmethod
    def of(
        cls, source: ContextSource, found: Candidates, model: LinearModel, label: Any, asked: FindOptions,
        places: Places | None, trained: Trained | None,
    ) -> _Words:  # fmt: skip
        """All words of the candidates or, where one is given, those that it co-occurs with."""
        used = np.arange(len(found.words))
        if any(asked.fixed):
            used = np.unique(np.concatenate([found.first, found.second]))
        row = np.full(len(found.words), -1, np.int64)
        row[used] = np.arange(used.size)
        targets = [found.words[k] for k in used.tolist()]
        one = two = np.zeros(len(targets))
        if "v1" in model.weights:
            output, sign = model.output_of(label)
            one, two = (
                sign * np.asarray(own @ model.weights[block][:, output])
                for block, own in zip(("v1", "v2"), _word_rows(source, model, targets), strict=True)
            )
        words = cls(targets, row, one, two, model, label, asked)
        if places is not None:
            slots = places.slots(targets)
            words.fits = slots.fits(0)[: len(targets)], slots.fits(1)[: len(targets)]
            words.kinds = places.of_kind(targets)
            words.spread = _spread(places, trained)
        return words

    def best(self, found: Candidates) -> Candidates:
        """The candidates that the first rankings put first.

        Equal scores are in the order of the words' numbers, so that the choice does not depend on the batches.
        """
        if len(found) <= self.asked.scored:
            return found
        first, second, totals = self.row[found.first], self.row[found.second], _totals(found)
        orders = [(first, second, totals)]
        if not any(self.asked.fixed):
            orders.append((second, first, totals[:, [1, 0, 3, 2, 4]]))
        plain = [self.one[a] + self.two[b] + self._statistics(own) for a, b, own in orders]
        rankings = [np.maximum.reduce(plain)]
        if self.fits is not None and self.kinds is not None:
            fits, typed = self.fits, []
            for (a, b, _), score in zip(orders, plain, strict=True):
                free = [
                    own[k]
                    for own, k, is_given in zip(fits, (a, b), self.asked.fixed, strict=True)
                    if not is_given
                ]
                slot = np.minimum.reduce(free or [fits[0][a]])
                allowed = self.kinds[0][a] & self.kinds[1][b]
                typed.append(np.where(allowed, score / self.spread[0] + slot / self.spread[1], -np.inf))
            rankings.append(np.maximum.reduce(typed))
        chosen = np.zeros(len(found), np.bool_)
        for ranking in rankings:
            chosen |= _highest(ranking, found, self.asked.scored)
        return found.take(np.flatnonzero(chosen))

    def _statistics(self, totals: I64) -> Floats:
        """What the pair's statistics add; of a model without them, its PMI."""
        values = statistics_of(totals, self.model.basis, self.model.counting)
        if STATISTICS not in self.model.weights:
            pmi: Floats = values[:, PMI]
            return pmi
        output, sign = self.model.output_of(self.label)
        added: Floats = sign * STATISTICS_FACTOR * (values @ self.model.weights[STATISTICS][:, output])
        return added


_last_rows: list[Any] = []  # what they depend on, words and their features, of the last search that is kept


def _word_rows(source: ContextSource, model: LinearModel, targets: list[Target]) -> Any:
    """Features of words as first and as second ones; a preset that learns nothing has the same in the next search."""
    key = source.content_hash, model.basis.hash, model.counting, model.preset
    if _last_rows and _last_rows[0] == key and _last_rows[1] == targets:
        return _last_rows[2]
    table, _ = cache_of(source, model.basis, model.counting).words(targets)
    rows = model.preset.word_rows(model.learned, table, model.basis)
    if not model.preset.learns:
        _last_rows[:] = [key, targets, rows]
    return rows


def _spread(places: Places, trained: Trained | None) -> tuple[float, float]:
    """The standard deviations of scores and fits over the pairs that were drawn as negatives."""
    if trained is None or trained.counts is None or len(trained.drawn) < 2:
        return 1.0, 1.0
    drawn = trained.counts[len(trained.examples.pairs) :]
    output, _ = trained.model.output_of(trained.label)
    scores = trained.model.decisions(drawn)[:, output]
    targets = [
        target for target in drawn.targets if target is not None
    ]  # all: they were drawn from the corpus
    fit = places.slots(targets).slot(drawn.rows[:, 0], drawn.rows[:, 1])
    return float(scores.std()) or 1.0, float(fit.std()) or 1.0


def _highest(ranking: Floats, found: Candidates, most: int) -> Bools:
    """The candidates with the highest values; of equal ones, those whose words have the lower numbers."""
    least = np.partition(ranking, len(ranking) - most)[len(ranking) - most]
    chosen: Bools = ranking > least
    equal = np.flatnonzero(ranking == least)
    equal = equal[np.lexsort((found.second[equal], found.first[equal]))]
    chosen[equal[: most - np.count_nonzero(chosen)]] = True
    return chosen


def _totals(found: Candidates) -> I64:
    """n(w1), n(w2), n+, n− and n of each pair."""
    words = (found.n_words[found.first], found.n_words[found.second])
    return np.stack([*words, found.n_plus, found.n_minus, found.together], axis=1).astype(np.int64)
