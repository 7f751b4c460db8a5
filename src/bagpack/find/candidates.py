"""Candidate pairs of a search: all pairs of vocabulary words that co-occur, of which the best are counted in full.

A first pass costs little: it adds what the model gives to each of the two words and to the pair's statistics. Those
that it ranks highest, by themselves and together with how well the words fit the relation's places, are the pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.candidates import Candidates, candidate_batches, join_candidates
from bagpack.contexts.targets import ContextSource, Target
from bagpack.contexts.windows import Windows
from bagpack.corpus.corpus import Corpus
from bagpack.errors import InputError, UsageError
from bagpack.find.slots import Slots, SlotScores, kinds_of
from bagpack.find.vocabulary import Vocabulary, corpus_of, corpus_vocabulary
from bagpack.learn.features import STATISTICS_FACTOR, Features, statistics_of
from bagpack.learn.model import LinearModel
from bagpack.names import STATISTICS
from bagpack.tasks.pairs import BACKGROUND
from bagpack.vectors.counts import CountCache, PairCounts, cache_of, count_pairs
from bagpack.vectors.word_classes import class_numbers
from bagpack.vectors.words import WordVectors

if TYPE_CHECKING:
    from bagpack.find.training import Trained

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
I64 = NDArray[np.int64]

PMI = 3  # its column among the statistics
MIN_COUNT = 5
MIN_TOGETHER = 2
SCORED = 25_000  # of each of the two first rankings, counted in full
AT_ONCE = 1_000_000  # candidates that are held before those with low scores are dropped
TINY = 1e-9  # probabilities are at least this far from 0 and 1


@dataclass(frozen=True)
class CandidateOptions:
    """Which pairs are candidates.

    Parameters
    ----------
    w1, w2
        Only pairs with this word in this place.
    pos1, pos2
        Parts of speech in each place, such as ``noun,verb``; ``any`` for all; None: those of the examples.
    vocabulary
        The words that pairs are made of; None takes the frequent words of the corpus.
    min_count, min_together
        How often a word must occur, and a pair co-occur; None: 5 times and twice, once each for a list of words.
    scored
        How many of each of the two first rankings are counted in full.
    """

    w1: str | None = None
    w2: str | None = None
    pos1: str | None = None
    pos2: str | None = None
    vocabulary: Vocabulary | None = None
    min_count: int | None = None
    min_together: int | None = None
    scored: int = SCORED

    def __post_init__(self) -> None:
        for name in ("min_count", "min_together", "scored"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1, not {value}")
        if self.w1 is not None and self.w1 == self.w2:
            raise UsageError(f"--w1 and --w2 are the same word, {self.w1}; give two words, or one of them")
        for option, names in (("--pos1", self.pos1), ("--pos2", self.pos2)):
            class_numbers(names or "", option)

    @property
    def one_direction(self) -> bool:
        """Whether a word is fixed, so that only one order is asked for."""
        return self.w1 is not None or self.w2 is not None


# Scores of a model ----------------------------------------------------------------------------------------------


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


# The places of a relation ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Places:
    """What the examples say about the words in each place: their vectors and parts of speech."""

    vectors: WordVectors
    positives: list[tuple[Target, Target]]
    rejected: tuple[list[Target], list[Target]]
    held_out: Floats
    kinds: tuple[frozenset[int], frozenset[int]]
    given: tuple[bool, bool] = (False, False)

    @classmethod
    def of(cls, source: ContextSource, trained: Trained, options: CandidateOptions) -> Places:
        """The places of the relation that was trained."""
        assert trained.held_out is not None
        words = dict.fromkeys(word for pair in trained.examples.pairs for word in pair)
        found = zip(words, source.resolve(list(words)), strict=True)
        target = {word: own for word, own in found if own is not None}  # as `usable` left them
        yes = [(target[a], target[b]) for a, b in trained.examples.positives]
        no = [(target[a], target[b]) for a, b in trained.examples.negatives]
        rejected = [
            list(dict.fromkeys(pair[place] for pair in no if pair[place] not in {own[place] for own in yes}))
            for place in (0, 1)
        ]
        vectors = WordVectors.of(corpus_of(source))
        kinds = []
        for place, asked in enumerate((options.pos1, options.pos2)):
            if asked is not None:
                kinds.append(class_numbers(asked, f"--pos{place + 1}"))
            else:
                kinds.append(kinds_of(vectors.class_of([pair[place] for pair in yes])))
        given = options.w1 is not None, options.w2 is not None
        kept = [frozenset() if own else asked for own, asked in zip(given, kinds, strict=True)]
        return cls(vectors, yes, (rejected[0], rejected[1]), trained.held_out, (kept[0], kept[1]), given)

    def slots(self, targets: list[Target]) -> tuple[Slots, tuple[Bools, Bools]]:
        """How these words fit, the examples' own words after them; and whether they are of the right kinds."""
        everything = [*targets, *(word for pair in self.positives for word in pair)]
        rows = self.vectors.vectors(everything)
        examples = rows[len(targets) :].reshape(len(self.positives), 2, -1)
        rejected = [self.vectors.vectors(own) if own else rows[:0] for own in self.rejected]
        classes = self.vectors.class_of(targets)
        first, second = (
            np.isin(classes, [0, *own]) if own else np.ones(len(targets), np.bool_) for own in self.kinds
        )
        slots = Slots.of(rows, (examples[:, 0], examples[:, 1]), (rejected[0], rejected[1]), self.given)
        return slots, (first, second)


# The pool -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pool:
    """Candidates counted in full, ready to be scored by any model over the same basis.

    Attributes
    ----------
    counts
        The pairs in the first order.
    both
        Whether each pair may be in the relation in either order.
    candidates
        How many pairs there were before the first pass.
    """

    source: ContextSource
    counts: PairCounts
    both: bool
    candidates: int
    options: CandidateOptions
    unknown: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.counts)

    def features(self, model: LinearModel) -> list[Features]:
        """The features of the pairs in each order, for models that are trained again and again."""
        return [model.features(own) for own in self._orders()]

    def _orders(self) -> list[PairCounts]:
        return [self.counts, self.counts.reversed()] if self.both else [self.counts]

    def scored(
        self, model: LinearModel, label: Any, places: Places | None, features: list[Features] | None = None
    ) -> ScoredPool:
        """Each pair in its better order, with the model's score and the value that it is ranked by."""
        orders = self._orders()
        features = features or self.features(model)
        decisions = [model.decide(own) for own in features]
        scores = np.stack(
            [label_score(model, own, label, rows.totals) for own, rows in zip(decisions, orders, strict=True)]
        )
        values, weight, allowed = scores, 0.0, np.ones(scores.shape, np.bool_)
        if places is not None and len(self):
            values, weight, allowed = self._with_slots(scores, places)
        better = values.argmax(axis=0) == 1
        counts = self.counts
        if self.both:
            counts = replace(
                counts,
                rows=np.where(better[:, None], orders[1].rows, counts.rows),
                swapped=np.where(better, orders[1].swapped, counts.swapped),
            )
        chosen = better.astype(int), np.arange(scores.shape[1])
        return ScoredPool(counts, values[chosen], scores[chosen], allowed[chosen], weight)

    def _with_slots(self, scores: Floats, places: Places) -> tuple[Floats, float, Bools]:
        """Values with the fit of the words; where it counts, pairs of other parts of speech are not allowed."""
        targets = [target for target in self.counts.targets if target is not None]
        assert len(targets) == len(self.counts.targets)
        slots, (first_kind, second_kind) = places.slots(targets)
        rows = [self.counts.rows] if not self.both else [self.counts.rows, self.counts.rows[:, ::-1]]
        first, second = (np.concatenate([own[:, k] for own in rows]) for k in (0, 1))
        of_kind = first_kind[first] & second_kind[second]
        number = len(targets)
        examples = [(number + 2 * k, number + 2 * k + 1) for k in range(len(places.positives))]
        found = SlotScores.of(slots, first, second, scores.ravel(), examples, places.held_out, of_kind)
        model = scores.ravel()
        values = (model - model.mean()) / (model.std() or 1.0) + found.weight * found.fit
        asked = self.options.pos1 is not None or self.options.pos2 is not None
        allowed = of_kind if found.weight or asked else np.ones(len(of_kind), np.bool_)
        values = np.where(allowed, values, -np.inf)
        return values.reshape(scores.shape), found.weight, allowed.reshape(scores.shape)


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
        first, second = rank[self.counts.rows[:, 0]], rank[self.counts.rows[:, 1]]
        order = np.lexsort([second, first, -self.score, -self.value])
        return order[self.allowed[order]]


def collect_pool(
    source: ContextSource, model: LinearModel, label: Any, options: CandidateOptions,
    trained: Trained | None = None, places: Places | None = None, keep: bool = False,
) -> Pool:  # fmt: skip
    """Enumerate the candidates of a corpus, rank them by what costs little, and count the best in full.

    With ``keep``, the candidates of the whole corpus stay in memory for the next search.
    """
    search = _Search(source, model, label, options, trained, places, keep)
    counts = search.count(search.best())
    unknown = () if options.vocabulary is None else options.vocabulary.unknown
    return Pool(source, counts, not options.one_direction, search.candidates, options, unknown)


class _Search:
    """One search for candidates: the vocabulary, the words' vectors, and what each word adds to a score."""

    def __init__(
        self, source: ContextSource, model: LinearModel, label: Any, options: CandidateOptions,
        trained: Trained | None, places: Places | None, keep: bool = False,
    ) -> None:  # fmt: skip
        self.keep = keep and options.vocabulary is None and not options.one_direction
        self.source, self.corpus, self.model, self.label = source, corpus_of(source), model, label
        self.options, self.places, self.trained = options, places, trained
        self.basis, self.settings = model.basis, model.counting
        self.candidates = 0
        least = (MIN_COUNT, MIN_TOGETHER) if options.vocabulary is None else (1, 1)
        self.min_count = options.min_count or least[0]
        self.min_together = options.min_together or least[1]
        self.w1, self.w2 = (self._fixed(word) for word in (options.w1, options.w2))
        vocabulary = options.vocabulary or corpus_vocabulary(source, min_count=self.min_count)
        given = {
            target: word
            for target, word in ((self.w1, options.w1), (self.w2, options.w2))
            if target is not None and word is not None
        }
        self.vocabulary = replace(vocabulary, names={**vocabulary.names, **given})
        self.cache: CountCache = cache_of(source, self.basis, self.settings)
        self._words: _Words | None = None

    def _fixed(self, word: str | None) -> Target | None:
        if word is None:
            return None
        target = self.source.resolve([word])[0]
        if target is None:
            raise InputError(f"the corpus does not contain {word!r}; give another word")
        return target

    def best(self) -> Candidates:
        """The candidates that the first rankings put first.

        Equal scores are in the order of the words' numbers, so that the choice does not depend on the batches.
        """
        kept: Candidates | None = None
        for batch in self._batches():
            kept = batch if kept is None else join_candidates([kept, batch])
            if len(kept) > max(AT_ONCE, 2 * self.options.scored):
                kept = self._cut(kept)
        assert kept is not None  # there is at least one batch
        kept = self._cut(kept)
        return kept.take(np.lexsort((kept.second, kept.first)))

    def _batches(self) -> Iterator[Candidates]:
        asked = (self.settings.windows, self.min_count, self.min_together)
        found: Iterable[Candidates]
        if self.keep:
            found = kept_candidates(self.corpus, *asked)
        else:
            found = candidate_batches(
                self.corpus, self.vocabulary.targets, w1=self.w1, w2=self.w2, windows=asked[0],
                min_count=asked[1], min_together=asked[2],
            )  # fmt: skip
        for batch in found:
            self.candidates += len(batch)
            yield batch

    def _cut(self, found: Candidates) -> Candidates:
        if len(found) <= self.options.scored:
            return found
        words = self._of(found)
        first, second, totals = words.row[found.first], words.row[found.second], _totals(found)
        orders = [(first, second, totals)]
        if not self.options.one_direction:
            orders.append((second, first, totals[:, [1, 0, 3, 2, 4]]))
        plain = [words.one[a] + words.two[b] + self._statistics(own) for a, b, own in orders]
        rankings = [np.maximum.reduce(plain)]
        if words.fits is not None:
            fit1, fit2 = words.fits
            typed = []
            for (a, b, _), score in zip(orders, plain, strict=True):
                slot = (
                    fit2[b]
                    if self.options.w1
                    else fit1[a]
                    if self.options.w2
                    else np.minimum(fit1[a], fit2[b])
                )
                allowed = words.kinds[0][a] & words.kinds[1][b]
                typed.append(np.where(allowed, score / words.spread[0] + slot / words.spread[1], -np.inf))
            rankings.append(np.maximum.reduce(typed))
        chosen = np.zeros(len(found), np.bool_)
        for ranking in rankings:
            chosen |= _highest(ranking, found, self.options.scored)
        return found.take(np.flatnonzero(chosen))

    def _statistics(self, totals: I64) -> Floats:
        """What the pair's statistics add; of a model without them, its PMI."""
        values = statistics_of(totals, self.basis, self.settings)
        output, sign = self.model.output_of(self.label)
        if STATISTICS in self.model.weights:
            weights = self.model.weights[STATISTICS][:, output]
            added: Floats = sign * STATISTICS_FACTOR * (values @ weights)
            return added
        pmi: Floats = values[:, PMI]
        return pmi

    def _of(self, found: Candidates) -> _Words:
        """The words of the candidates, counted once: all of them, or those that a fixed word co-occurs with."""
        if self._words is None:
            used = np.arange(len(found.words))
            if self.options.one_direction:
                used = np.unique(np.concatenate([found.first, found.second]))
            row = np.full(len(found.words), -1, np.int64)
            row[used] = np.arange(used.size)
            targets = [found.words[k] for k in used.tolist()]
            table, _ = self.cache.words(targets)
            output, sign = self.model.output_of(self.label)
            one = two = np.zeros(len(targets))
            if "v1" in self.model.weights:
                first, second = self.model.preset.word_rows(self.model.learned, table, self.basis)
                one, two = (
                    sign * np.asarray(own @ self.model.weights[block][:, output])
                    for block, own in (("v1", first), ("v2", second))
                )
            self._words = _Words(targets, self._names(targets), row, one, two)
            if self.places is not None:
                self._words.add_fits(self.places, self.trained)
        return self._words

    def _names(self, targets: list[Target]) -> list[str]:
        """A name for each, none twice."""
        names = [self.vocabulary.name(target) for target in targets]
        if len(set(names)) < len(names):
            taken = {str(target) for target in targets}
            names = [
                name if name == str(target) or name not in taken else str(target)
                for name, target in zip(names, targets, strict=True)
            ]
        return names

    def count(self, found: Candidates) -> PairCounts:
        """The pairs, counted as the model's training pairs were."""
        words = self._of(found)
        numbers = np.stack([words.row[found.first], words.row[found.second]], axis=1)
        pairs = [(words.names[one], words.names[two]) for one, two in numbers.tolist()]
        target_of = dict(zip(words.names, words.targets, strict=True))
        return count_pairs(self.source, pairs, self.basis, self.settings, self.cache, target_of)


@lru_cache(maxsize=1)
def kept_candidates(
    corpus: Corpus, windows: Windows, min_count: int = MIN_COUNT, min_together: int = MIN_TOGETHER
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
    """Words of candidates: ``row`` has each candidate word's place among them, ``one`` and ``two`` what the model adds.

    ``spread`` has the standard deviations of scores and fits over pairs that were drawn, so that the two can be added.
    """

    targets: list[Target]
    names: list[str]
    row: I64
    one: Floats
    two: Floats
    fits: tuple[Floats, Floats] | None = None
    kinds: tuple[Bools, Bools] = (np.empty(0, np.bool_), np.empty(0, np.bool_))
    spread: tuple[float, float] = (1.0, 1.0)

    def add_fits(self, places: Places, trained: Trained | None) -> None:
        """How well each word fits each place."""
        slots, self.kinds = places.slots(self.targets)
        number = len(self.targets)
        self.fits = (slots.fits(0)[:number], slots.fits(1)[:number])
        if trained is not None and trained.counts is not None and len(trained.drawn) > 1:
            drawn = trained.counts[len(trained.examples.pairs) :]
            output, _ = trained.model.output_of(trained.label)
            scores = trained.model.decisions(drawn)[:, output]
            targets = [target for target in drawn.targets if target is not None]
            if len(targets) == len(drawn.targets):
                fit = places.slots(targets)[0].slot(drawn.rows[:, 0], drawn.rows[:, 1])
                self.spread = (float(scores.std()) or 1.0, float(fit.std()) or 1.0)


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
