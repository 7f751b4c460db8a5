"""Candidate pairs of a search: all pairs of vocabulary words that co-occur, of which the best are counted in full.

A first pass costs little: it adds what the model gives to each of the two words and to the pair's statistics. Those
that it ranks highest, by themselves and together with how well the words fit the relation's places, are the pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from bagpack.arrays import I64, Bools, Floats
from bagpack.contexts.candidates import Candidates, candidate_batches, join_candidates
from bagpack.contexts.targets import ContextSource, Target
from bagpack.contexts.windows import Windows
from bagpack.corpus.corpus import Corpus
from bagpack.errors import InputError
from bagpack.find.options import FindOptions
from bagpack.find.slots import Places
from bagpack.find.vocabulary import corpus_of, corpus_vocabulary, vocabulary_of
from bagpack.learn.features import STATISTICS_FACTOR, Features, statistics_of
from bagpack.learn.model import LinearModel
from bagpack.names import STATISTICS
from bagpack.parallel import delayed, run_threads
from bagpack.tasks.pairs import BACKGROUND
from bagpack.vectors.counts import PairCounts, cache_of, count_pairs

PMI = 3  # its column among the statistics
MIN_COUNT, MIN_TOGETHER = 5, 2
AT_ONCE = 1_000_000  # candidates that are held before those with low scores are dropped
RANKED = 250_000  # candidates that a thread ranks at once
WEIGHED = 10_000  # pairs whose features a thread computes at once
TINY = 1e-9  # probabilities are at least this far from 0 and 1


def lacks_background(model: LinearModel) -> bool:
    """Whether a model has to give each pair one of its labels: it was trained on the pairs of these labels alone."""
    return model.kind == "multiclass" and not model.manifest.get(BACKGROUND)


def label_score(model: LinearModel, decisions: Floats, label: Any, totals: I64) -> Floats:
    """What a model ranks pairs by: the label's decision value or, where labels compete, its log odds.

    To the log odds of a model without background pairs the PMI of the two words is added, since most pairs that
    co-occur by chance are in no relation. ``totals`` has n(w1), n(w2), n+, n− and n of each pair.
    """
    if model.kind == "multiclass" and model.calibrated.calibration is not None:
        probability = model.probabilities(decisions)[:, model.classes.index(label)]
        certain = np.clip(probability, TINY, 1 - TINY)
        odds: Floats = np.log(certain) - np.log1p(-certain)
        if lacks_background(model):
            n1, n2, _, _, seen = totals.astype(np.float64).T
            odds += np.log(np.maximum(seen, 0.5) * max(model.basis.tokens, 1) / np.maximum(n1 * n2, 1))
        return odds
    output, sign = model.output_of(label)
    score: Floats = sign * decisions[:, output]
    return score


# The pool -------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Pool:
    """Candidates counted in full, ready to be scored by any model over the same basis."""

    source: ContextSource
    counts: PairCounts  # each pair in one order
    candidates: int  # how many pairs there were before the first pass
    asked: FindOptions
    unknown: tuple[str, ...] = ()  # terms of the user's list that the corpus does not contain
    _features: Sequence[Features] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.counts)

    def _orders(self) -> list[PairCounts]:
        """Both orders of the pairs, or the one that was asked for."""
        return [self.counts] if any(self.asked.fixed) else [self.counts, self.counts.reversed()]

    def _decisions(self, model: LinearModel) -> list[Floats]:
        """Decision values of the pairs in each order.

        Features of a preset that learns nothing are kept for the next model, and those of a reversed pair are the same
        in other columns: exchanging the weights costs less than weighing the counts again.
        """
        orders = self._orders()
        if model.preset.learns or not len(self):
            return [model.decisions(own) for own in orders]
        parts = (self.counts[at : at + WEIGHED] for at in range(0, len(self), WEIGHED))
        self._features = self._features or run_threads(delayed(model.features)(part) for part in parts)
        weights = np.hstack([model.weight_matrix().T, _turned(model)][: len(orders)])
        found = np.concatenate(run_threads(delayed(part.decisions)(weights) for part in self._features))
        return [model.intercept + own for own in np.split(found, len(orders), axis=1)]

    def scored(
        self, model: LinearModel, label: Any, places: Places | None, first: Floats | None = None, share: float = 0.0
    ) -> ScoredPool:  # fmt: skip
        """Each pair in its better order, with the model's score and the value that it is ranked by.

        The values of a first ranking have a share in these. Where the fit of the words counts or parts of speech are
        asked for, pairs of others have the value -inf.
        """
        orders = self._orders()
        decisions = zip(self._decisions(model), orders, strict=True)
        scores = np.stack([label_score(model, own, label, rows.totals) for own, rows in decisions])
        values, listed, weight = scores, np.ones(scores.shape, np.bool_), 0.0
        if places is not None and len(self):
            targets = [target for target in self.counts.targets if target is not None]  # all of them
            rows = np.concatenate([own.rows for own in orders])
            values, of_kind, weight = places.rank(targets, rows, scores.ravel())
            values = values.reshape(scores.shape)
            if weight or self.asked.pos1 is not None or self.asked.pos2 is not None:
                listed = of_kind.reshape(scores.shape)
        if first is not None:
            values = (1 - share) * values / values.std() + share * first / first.std()
        value = np.where(listed, values, -np.inf)
        better = value.argmax(axis=0)
        counts = orders[0]
        if len(orders) > 1:
            rows = np.where(better[:, None], orders[1].rows, counts.rows)
            counts = replace(counts, rows=rows, swapped=np.where(better, orders[1].swapped, counts.swapped))
        chosen = better, np.arange(len(better))
        return ScoredPool(counts, value[chosen], scores[chosen], weight, values)


def _turned(model: LinearModel) -> Floats:
    """Weights by which a pair gets the decision value of its reverse."""
    own = dict(model.weights)
    if "v1" in own:
        own["v1"], own["v2"] = own["v2"], own["v1"]
    if "v12" in own:
        own["v12"] = np.roll(own["v12"], len(own["v12"]) // 2, axis=0)
        own[STATISTICS] = _reversed_statistics(own[STATISTICS].T).T
    return np.vstack(list(own.values()))


def _reversed_statistics(values: Floats) -> Floats:
    """The statistics of reversed pairs: first and second word first change places, the order its sign."""
    return np.asarray(values[:, [1, 0, 2, 3, 4]] * [1, 1, 1, 1, -1])


@dataclass(frozen=True, eq=False)
class ScoredPool:
    """A pool under a model: each pair in its better order."""

    counts: PairCounts
    value: Floats  # what pairs are ranked by
    score: Floats  # the model's own
    weight: float  # of the words' fit
    values: Floats  # of both orders, before pairs of other parts of speech are excluded

    def order(self) -> I64:
        """Best first: by value, then by the model's score, then by the words; pairs of other kinds are excluded."""
        rank = np.argsort(np.argsort(np.array(self.counts.name_list, object), kind="stable"))
        first, second = rank[self.counts.rows].T
        order = np.lexsort([second, first, -self.score, -self.value])
        return order[np.isfinite(self.value[order])]


# The first pass -------------------------------------------------------------------------------------------------


def collect_pool(
    source: ContextSource, model: LinearModel, label: Any, asked: FindOptions, places: Places | None = None,
    keep: bool = False,
) -> Pool:  # fmt: skip
    """Enumerate the candidates of a corpus, rank them by what costs little, and count the best in full.

    With ``keep``, the candidates of the whole corpus stay in memory for the next search.
    """
    corpus = corpus_of(source)
    wanted = [word for word in (asked.w1, asked.w2) if word is not None]
    target_of = dict(zip(wanted, source.resolve(wanted), strict=True))
    for word, target in target_of.items():
        if target is None:
            raise InputError(f"the corpus does not contain {word!r}; give another word")
    given = [target_of.get(word or "") for word in (asked.w1, asked.w2)]
    own = (MIN_COUNT, MIN_TOGETHER) if asked.among is None else (1, 1)
    least = asked.min_count or own[0], asked.min_together or own[1]
    windows = model.counting.windows
    vocabulary = vocabulary_of(source, asked.among, least[0])
    batches: Iterator[Candidates]
    if keep and asked.among is None and not any(given):
        batches = iter(kept_candidates(corpus, windows, *least))
    else:
        batches = candidate_batches(
            corpus, vocabulary.targets, w1=given[0], w2=given[1], windows=windows, min_count=least[0],
            min_together=least[1],
        )  # fmt: skip
        if any(given):  # only the words that it co-occurs with are counted
            batches = iter([_used_words(join_candidates(list(batches)))])
    chosen = [next(batches)]  # there is at least one
    number = len(chosen[0])
    ranking = _FirstRanking(source, chosen[0].words, model, label, asked, places)
    for batch in batches:
        number += len(batch)
        chosen.append(batch)
        if sum(map(len, chosen)) > AT_ONCE:
            chosen = [ranking.best(join_candidates(chosen))]
    best = ranking.best(join_candidates(chosen))
    if not keep:
        _last_rows.clear()
    best = best.take(np.lexsort((best.second, best.first)))
    names = _names(best.words, {**vocabulary.names, **{own: word for word, own in target_of.items() if own}})
    pairs = [(names[a], names[b]) for a, b in zip(best.first.tolist(), best.second.tolist(), strict=True)]
    counts = count_pairs(
        source, pairs, model.basis, model.counting, cache_of(source, model.basis, model.counting),
        dict(zip(names, best.words, strict=True)),
    )  # fmt: skip
    return Pool(source, counts, number, asked, vocabulary.unknown)


def _names(targets: Sequence[Target], written: dict[Target, str]) -> list[str]:
    """A name for each, as the user or the corpus writes it, none twice."""
    own = [str(target) for target in targets]
    names = [written.get(target, name) for target, name in zip(targets, own, strict=True)]
    if len(set(names)) == len(names):
        return names
    return [name if name not in own else plain for name, plain in zip(names, own, strict=True)]


def _used_words(found: Candidates) -> Candidates:
    """The same pairs without the words that none of them has."""
    used, rows = np.unique(np.concatenate([found.first, found.second]), return_inverse=True)
    first, second = np.split(rows.astype(np.int32), 2)
    words = [found.words[k] for k in used.tolist()]
    return replace(found, words=words, n_words=found.n_words[used], first=first, second=second)


@lru_cache(maxsize=1)
def kept_candidates(
    corpus: Corpus, windows: Windows, min_count: int, min_together: int
) -> tuple[Candidates, ...]:
    """All candidates of a corpus: 16 bytes each, about 100 MB for 72 million tokens, which take 4 s to find."""
    words = corpus_vocabulary(corpus, min_count)
    found = candidate_batches(corpus, words, windows=windows, min_count=min_count, min_together=min_together)
    return tuple(found)


class _FirstRanking:
    """What the model and the places add for each word: as first and as second one, without its partner."""

    def __init__(
        self, source: ContextSource, targets: Sequence[Target], model: LinearModel, label: Any, asked: FindOptions,
        places: Places | None,
    ) -> None:  # fmt: skip
        self.model, self.asked = model, asked
        self.output, self.sign = model.output_of(label)
        self.added = (np.zeros(len(targets)),) * 2
        if "v1" in model.weights:
            rows = _word_rows(source, model, targets)
            self.added = (self._times(rows[0], "v1"), self._times(rows[1], "v2"))
        self.fits: list[Floats] = []
        if places is not None:
            slots = places.slots(targets)
            self.fits = [slots.fits(place)[: len(targets)] for place in (0, 1)]
            self.kinds = places.of_kind(targets)
            # Scores and fits can be added once they are divided by their spread over the pairs that were drawn.
            drawn = places.trained.counts[len(places.trained.examples.pairs) :]
            fit = places.slots([word for word in drawn.targets if word is not None]).slot(*drawn.rows.T)
            both = (model.decisions(drawn)[:, self.output], fit)
            self.spread = [float(own.std()) or 1.0 if len(own) else 1.0 for own in both]

    def _times(self, rows: Any, block: str) -> Floats:
        return np.asarray(self.sign * (rows @ self.model.weights[block][:, self.output]))

    def best(self, found: Candidates) -> Candidates:
        """The candidates that are first by the words' and the pairs' own values, or together with the words' fit.

        Equal values are in the order of the words' numbers, so that the choice does not depend on the batches.
        """
        if len(found) <= self.asked.scored:
            return found
        parts = (found.take(slice(at, at + RANKED)) for at in range(0, len(found), RANKED))
        rankings = zip(*run_threads(delayed(self._rankings)(part) for part in parts), strict=True)
        chosen = [_highest(np.concatenate(own), found, self.asked.scored) for own in rankings]
        return found.take(np.flatnonzero(np.logical_or.reduce(chosen)))

    def _rankings(self, found: Candidates) -> list[Floats]:
        """The values of candidates by the words and the pair alone, and together with the words' fit."""
        n1, n2 = found.n_words[found.first], found.n_words[found.second]
        totals = np.stack([n1, n2, found.n_plus, found.n_minus, found.together], axis=1).astype(np.int64)
        values = statistics_of(totals, self.model.basis, self.model.counting)
        orders = [(found.first, found.second, values)]
        if not any(self.asked.fixed):
            orders.append((found.second, found.first, _reversed_statistics(values)))
        free = [place for place in (0, 1) if not self.asked.fixed[place]] or [0]
        scores, fitting = [], []
        for *words, own in orders:
            score = self.added[0][words[0]] + self.added[1][words[1]] + self._statistics(own)
            scores.append(score)
            if self.fits:
                fit = np.minimum.reduce([self.fits[place][words[place]] for place in free])
                of_kind = self.kinds[0][words[0]] & self.kinds[1][words[1]]
                fitting.append(np.where(of_kind, score / self.spread[0] + fit / self.spread[1], -np.inf))
        return [np.maximum.reduce(own) for own in (scores, fitting) if own]

    def _statistics(self, values: Floats) -> Floats:
        """What the pair's statistics add; of a model without them, its PMI."""
        if STATISTICS not in self.model.weights:
            return np.asarray(values[:, PMI])
        return STATISTICS_FACTOR * self._times(values, STATISTICS)


_last_rows: list[Any] = []  # what they depend on, words and their features, of the last search that is kept


def _word_rows(source: ContextSource, model: LinearModel, targets: Sequence[Target]) -> Any:
    """Features of words as first and as second ones; a preset that learns nothing has the same in the next search."""
    key = source.content_hash, model.basis.hash, model.counting, model.preset
    if _last_rows and _last_rows[0] == key and _last_rows[1] == targets:
        return _last_rows[2]
    table, _ = cache_of(source, model.basis, model.counting).words(source, targets)
    first = model.preset.block_rows(model.learned, "v1", table, model.basis)
    if model.preset.learns:
        return first, model.preset.block_rows(model.learned, "v2", table, model.basis)
    _last_rows[:] = [key, targets, (first, first)]
    return first, first


def _highest(ranking: Floats, found: Candidates, most: int) -> Bools:
    """The candidates with the highest values; of equal ones, those whose words have the lower numbers."""
    least = np.partition(ranking, len(ranking) - most)[len(ranking) - most]
    chosen: Bools = ranking > least
    equal = np.flatnonzero(ranking == least)
    equal = equal[np.lexsort((found.second[equal], found.first[equal]))]
    chosen[equal[: most - np.count_nonzero(chosen)]] = True
    return chosen
