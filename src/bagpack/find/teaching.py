"""Teaching a relation by answers: candidates are collected once, and ranked again after each answer.

The candidates, the negatives that were drawn and the basis stay the same, so that a new answer costs one training of a
small model and one scoring of the candidates. Answers that are mostly no say little of what the relation is: the first
ranking, by the examples alone, has a share in the new one: the share of no among the answers. A fifth of the
answers is never trained on: they say whether a retrained model ranks yes above no as well as the one before; if it does
not, the last one stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from zlib import crc32

import numpy as np

from bagpack.contexts.concordance import Context
from bagpack.contexts.targets import ContextSource
from bagpack.errors import InputError
from bagpack.explain.explanation import Explanation, explain_pair
from bagpack.find.answers import with_answers
from bagpack.find.candidates import Pool, ScoredPool, collect_pool
from bagpack.find.examples import NO, Examples, Pair
from bagpack.find.options import FindOptions
from bagpack.find.ranking import FoundPair, choose_pairs, found_rows, known_pairs
from bagpack.find.sentences import best_lines
from bagpack.find.slots import Places
from bagpack.find.training import Trained, train_on_examples

LISTED = 500  # candidates that can be asked about
HELD_OUT = 5  # one answer of five is not trained on
LEAST = 5  # held-out answers from which on they decide
UNCERTAIN = 10  # every tenth question is about a pair between yes and no, once there are answers
LINES = 3
REASONS = 6


@dataclass(frozen=True, eq=False)
class Ranking:
    """The best candidates that are neither examples nor answered."""

    rows: list[FoundPair]
    answered: int
    held_out: float | None = None  # average precision on the held-out answers; None if they are too few
    before: float | None = None  # that of the model before
    kept: bool = False  # the last answers made the model worse on the held-out ones: the one before was kept

    def questions(self, number: int) -> list[tuple[FoundPair, bool]]:
        """The candidates to ask about next, and whether each is asked because it is uncertain.

        The best come first; once some were answered, every tenth is one that the model is unsure about.
        """
        best = list(self.rows)
        doubt = best[number : 4 * number] if self.answered else []
        doubt = sorted(doubt, key=lambda row: abs(row.model_score))
        chosen: list[tuple[FoundPair, bool]] = []
        while len(chosen) < number and best:
            unsure = bool(doubt) and len(chosen) % UNCERTAIN == UNCERTAIN - 1
            chosen.append((doubt.pop(0) if unsure else best.pop(0), unsure))
        return chosen


def is_held_out(pair: Pair) -> bool:
    """Whether an answer about a pair is held out: decided by its words, so that it never changes."""
    return crc32("\t".join(sorted(pair)).encode()) % HELD_OUT == 0


@dataclass(eq=False)
class Teaching:
    """What stays the same while a relation is taught, and the ranking that is best so far."""

    source: ContextSource
    examples: Examples
    pool: Pool
    first: tuple[Places, ScoredPool]  # the ranking by the examples alone, and what it is by
    last: tuple[Places, ScoredPool]  # the present one
    _ranked: tuple[Mapping[Pair, bool], Ranking] | None = field(default=None, repr=False)

    @classmethod
    def start(cls, source: ContextSource, examples: Examples, asked: FindOptions | None = None) -> Teaching:
        """Train a first model and collect its best candidates."""
        asked = replace(asked or FindOptions(), top=LISTED)
        trained = train_on_examples(source, examples, seed=asked.seed)
        places = Places.of(source, trained, asked)
        pool = collect_pool(source, trained.model, trained.label, asked, places, keep=True)
        if not len(pool):
            raise InputError(
                "there are no candidates: no two words of the vocabulary co-occur often enough; remove the words that "
                "pairs must have, or use a larger corpus"
            )
        first = places, pool.scored(trained.model, trained.label, places)
        return cls(source, examples, pool, first, first)

    @property
    def places(self) -> Places:
        """What the present ranking is by."""
        return self.last[0]

    @property
    def trained(self) -> Trained:
        return self.places.trained

    def rank(self, answered: Mapping[Pair, bool] | None = None) -> Ranking:
        """The candidates under the model of the examples and these answers, yes or no."""
        answered = dict(answered or {})
        if self._ranked is None or self._ranked[0] != answered:
            self._ranked = answered, self._rank(answered)
        return self._ranked[1]

    def _rank(self, answered: dict[Pair, bool]) -> Ranking:
        aside = {pair: right for pair, right in answered.items() if is_held_out(pair)}
        label = self.examples.label
        taught = {pair: label if right else NO for pair, right in answered.items() if pair not in aside}
        places, scored = self.first
        if taught:
            examples = with_answers(self.examples, taught)
            trained = train_on_examples(self.source, examples, again=places.trained)
            places = Places.of(self.source, trained, self.pool.asked)
            share = list(answered.values()).count(False) / (len(answered) + 1)
            scored = self.pool.scored(trained.model, label, places, scored.values, share)
        precision = before = None
        if len(aside) >= LEAST and len(set(aside.values())) == 2:
            precision, before = (average_precision(own, aside) for own in (scored, self.last[1]))
        kept = precision is not None and before is not None and precision < before
        if not kept:
            self.last = places, scored
        scored = self.last[1]
        marked = known_pairs(self.source, [*self.examples.pairs, *answered], scored.counts)
        rows = found_rows(scored, choose_pairs(scored, self.pool, marked, self.examples)[0])
        return Ranking(rows, len(answered), precision, before, kept)

    def lines(self, pairs: Sequence[Pair], most: int = LINES) -> list[list[Context]]:
        """The best sentences of some pairs under the present model."""
        return best_lines(self.source, self.trained.model, pairs, self.trained.label, most)

    def explain(self, pair: Pair) -> Explanation:
        """Why the present model ranks a pair where it does."""
        model, labels = self.trained.model, [self.trained.label]
        return explain_pair(model, self.source, *pair, labels=labels, top=REASONS, lines=0, features=False)


def average_precision(scored: ScoredPool, answered: Mapping[Pair, bool]) -> float:
    """How well a ranking puts yes above no; pairs that it does not have count as last."""
    from sklearn.metrics import average_precision_score

    number = {pair: k for k, pair in enumerate(scored.counts.pairs)}
    values = [scored.value[number[pair]] if pair in number else -np.inf for pair in answered]
    return float(average_precision_score(list(answered.values()), np.unique(values, return_inverse=True)[1]))
