"""Teaching a relation by answers: candidates are collected once, and ranked again after each answer.

The candidates, the negatives that were drawn and the basis stay the same, so that a new answer costs one training of a
small model and one scoring of the candidates. A fifth of the answers is never trained on: they say whether a retrained
model ranks yes above no as well as the one before; if it does not, the last one stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.concordance import Context
from bagpack.contexts.targets import ContextSource
from bagpack.errors import InputError
from bagpack.find.candidates import Places, Pool, ScoredPool, collect_pool
from bagpack.find.examples import Examples, Pair
from bagpack.find.ranking import FindOptions, KnownPairs, choose_pairs
from bagpack.find.sentences import best_lines
from bagpack.find.training import Trained, train_on_examples
from bagpack.learn.features import Features

SCORED = 5_000  # candidates of each first ranking that are kept
LISTED = 500  # candidates that can be asked about
HELD_OUT = 5  # one answer of five is not trained on
LEAST = 5  # held-out answers from which on they decide
UNCERTAIN = 5  # every fifth question is about a pair between yes and no
LINES = 3


@dataclass(frozen=True, eq=False)
class Ranking:
    """The best candidates that are not examples, each in its better order.

    Attributes
    ----------
    pairs, value, score, together
        The pairs, what they are ranked by, the model's own score, and how often they co-occur.
    examples
        The number of positives and negatives that the model was trained on.
    held_out, before
        Average precision on the held-out answers, of this model and of the one before; None if they are too few.
    kept
        Whether the last answers made the model worse on the held-out ones, so that the one before was kept.
    """

    pairs: Sequence[Pair]
    value: NDArray[np.float64]
    score: NDArray[np.float64]
    together: NDArray[np.int64]
    examples: tuple[int, int]
    held_out: float | None = None
    before: float | None = None
    kept: bool = False

    def questions(self, number: int = 1, *, asked: Iterable[Pair] = (), turn: int = 0) -> list[int]:
        """Numbers of the candidates to ask about next: the best, and sometimes the most uncertain.

        ``asked`` are pairs that were answered or skipped since; ``turn`` is how many questions were asked before.
        """
        answered = {frozenset(pair) for pair in asked}
        open_ = [k for k, pair in enumerate(self.pairs) if frozenset(pair) not in answered]
        doubt = iter(sorted(open_, key=lambda k: abs(self.score[k])))
        best = iter(open_)
        chosen: dict[int, None] = {}
        while len(chosen) < min(number, len(open_)):
            queue = doubt if (turn + len(chosen)) % UNCERTAIN == UNCERTAIN - 1 else best
            chosen[next(k for k in queue if k not in chosen)] = None
        return list(chosen)


def is_held_out(pair: Pair) -> bool:
    """Whether an answer about a pair is held out: decided by its words, so that it never changes."""
    return crc32("\t".join(sorted(pair)).encode()) % HELD_OUT == 0


@dataclass(eq=False)
class Teaching:
    """What stays the same while a relation is taught, and the ranking that is best so far."""

    source: ContextSource
    pool: Pool
    first: Trained
    asked: FindOptions
    notes: tuple[str, ...] = ()
    _features: list[Features] | None = field(default=None, repr=False)
    _last: tuple[Trained, ScoredPool] | None = field(default=None, repr=False)
    _ranked: tuple[tuple[tuple[Pair, ...], tuple[Pair, ...]], Ranking] | None = field(
        default=None, repr=False
    )

    @classmethod
    def start(cls, source: ContextSource, examples: Examples, asked: FindOptions | None = None) -> Teaching:
        """Train a first model and collect its best candidates."""
        asked = replace(asked or FindOptions(), top=LISTED)
        options = replace(asked.candidates(source), scored=SCORED)
        trained = train_on_examples(source, examples, seed=asked.seed)
        places = Places.of(source, trained, options)
        pool = collect_pool(source, trained.model, trained.label, options, trained, places)
        if not len(pool):
            raise InputError(
                "there are no candidates to ask about: no two words of the vocabulary co-occur often enough; "
                "remove --w1, --w2 or --among, or use a larger corpus"
            )
        return cls(source, pool, trained, asked, tuple(trained.notes))

    def rank(self, examples: Examples, answered: Sequence[tuple[Pair, bool]] = ()) -> Ranking:
        """The candidates under the model of these examples; ``answered`` are the answers among them, yes or no."""
        key = (examples.positives, examples.negatives)
        if self._ranked is None or self._ranked[0] != key:
            self._ranked = key, self._rank(examples, answered)
        return self._ranked[1]

    def _rank(self, examples: Examples, answered: Sequence[tuple[Pair, bool]]) -> Ranking:
        aside = {pair: right for pair, right in answered if is_held_out(pair)}
        used = replace(
            examples,
            positives=tuple(pair for pair in examples.positives if pair not in aside),
            negatives=tuple(pair for pair in examples.negatives if pair not in aside),
        )
        model = self.first.model
        trained = train_on_examples(
            self.source, used, drawn=self.first.drawn, seed=self.first.seed, preset=model.preset, basis=model.basis,
            settings=model.counting,
        )  # fmt: skip
        scored = self._scored(trained)
        precision = before = None
        kept = False
        if self._last is not None and len(aside) >= LEAST and len(set(aside.values())) == 2:
            precision, before = (self._average_precision(own, aside) for own in (scored, self._last[1]))
            kept = precision < before
        if kept and self._last is not None:
            trained, scored = self._last
        self._last = trained, scored
        marked = KnownPairs(self.source, examples.pairs).mark(scored.counts)
        chosen = np.array(choose_pairs(scored, self.pool, self.asked, marked, used)[0], np.intp)
        names, rows = scored.counts.name_list, scored.counts.rows[chosen].tolist()
        return Ranking(
            [(names[a], names[b]) for a, b in rows], scored.value[chosen], scored.score[chosen],
            scored.counts.seen[chosen], (len(used.positives), len(used.negatives)), precision, before, kept,
        )  # fmt: skip

    @property
    def trained(self) -> Trained:
        """What the present ranking is by."""
        return self.first if self._last is None else self._last[0]

    def _scored(self, trained: Trained) -> ScoredPool:
        if self._features is None:
            self._features = self.pool.features(trained.model)
        places = Places.of(self.source, trained, self.pool.options)
        return self.pool.scored(trained.model, trained.label, places, self._features)

    def _average_precision(self, scored: ScoredPool, aside: dict[Pair, bool]) -> float:
        """How well a ranking separates the held-out answers; pairs outside the pool count as last."""
        from sklearn.metrics import average_precision_score

        number = {pair: k for k, pair in enumerate(scored.counts.pairs)}
        least = float(np.min(scored.value[np.isfinite(scored.value)], initial=0.0)) - 1
        values = [
            max(float(scored.value[number[pair]]), least) if pair in number else least for pair in aside
        ]
        return float(average_precision_score(list(aside.values()), values))

    def lines(self, pairs: Sequence[Pair], most: int = LINES) -> list[list[Context]]:
        """The best sentences of some pairs under the present model."""
        trained = self.trained
        return best_lines(self.source, trained.model, pairs, trained.label, most)
