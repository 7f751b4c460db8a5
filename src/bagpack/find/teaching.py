"""Teaching a model by answers: candidates are collected once, and ranked again after each answer.

The candidates, the negatives that were drawn and the basis stay the same, so that a new answer costs one training of a
small model and one scoring of the candidates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bagpack.basis import Basis, BasisSize
from bagpack.contexts.concordance import Context
from bagpack.contexts.source import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.errors import InputError
from bagpack.find.examples import Examples, Pair
from bagpack.find.pool import CandidateOptions, Pool, PoolFeatures, collect_pool
from bagpack.find.questions import Strategy, next_questions
from bagpack.find.ranking import KnownPairs, PoolScores
from bagpack.find.sentences import best_lines
from bagpack.find.training import Trained, train_on_examples
from bagpack.learn.presets import Preset
from bagpack.parallel import Progress

SCORED = 5_000  # candidates that are kept
PER_WORD = 5  # questions with the same word in the same place
LINES = 3


@dataclass(frozen=True, eq=False)
class Ranking:
    """The candidates under a model: each pair in the order that the model prefers, with score and probability.

    Attributes
    ----------
    pairs, score, probability, together
        One value per candidate; ``probability`` is None where the examples are too few for it.
    known
        Whether a candidate is among the examples, in either order.
    examples
        The number of positives and negatives that the model was trained on.
    f1
        Cross-validated F1 of the relation over the training pairs, drawn negatives included.
    """

    pairs: Sequence[Pair]
    score: NDArray[np.float64]
    probability: NDArray[np.float64] | None
    together: NDArray[np.int64]
    known: NDArray[np.bool_]
    examples: tuple[int, int]
    f1: float | None

    def questions(
        self, strategy: Strategy, number: int = 1, *, asked: Iterable[Pair] = (), turn: int = 0,
        limited: tuple[bool, bool] = (True, True),
    ) -> list[int]:  # fmt: skip
        """Numbers of the candidates to ask about next.

        Parameters
        ----------
        asked
            Pairs that were answered or skipped since; they are not asked again.
        turn
            How many questions were asked before.
        limited
            Whether the first and the second word are limited to `PER_WORD` questions each.
        """
        answered = {frozenset(pair) for pair in asked}
        used = [Counter(pair[side] for pair in asked) for side in (0, 1)]
        closed = [
            index for index, pair in enumerate(self.pairs)
            if self.known[index] or frozenset(pair) in answered or any(
                limit and count[word] >= PER_WORD for word, count, limit in zip(pair, used, limited, strict=True)
            )
        ]  # fmt: skip
        return next_questions(self.score, closed, strategy=strategy, number=number, turn=turn)


@dataclass(eq=False)
class Teaching:
    """What stays the same while a relation is taught."""

    source: ContextSource
    pool: Pool
    first: Trained
    preset: str | Preset = "modern"
    fixed: tuple[bool, bool] = (False, False)
    notes: tuple[str, ...] = ()
    _kept: tuple[tuple[tuple[Pair, ...], tuple[Pair, ...]], Trained] | None = field(default=None, repr=False)
    _features: PoolFeatures | None = field(default=None, repr=False)

    @classmethod
    def start(
        cls, source: ContextSource, examples: Examples, options: CandidateOptions | None = None, *,
        preset: str | Preset = "modern", seed: int = 0, b: BasisSize = 1500, basis: Basis | None = None,
        settings: CountSettings | None = None, n_jobs: int | None = None, progress: Progress | None = None,
    ) -> Teaching:  # fmt: skip
        """Train a first model and collect its best candidates."""
        options = options or CandidateOptions(scored=SCORED)
        trained = train_on_examples(
            source, examples, seed=seed, preset=preset, b=b, basis=basis, settings=settings, n_jobs=n_jobs,
            progress=progress,
        )  # fmt: skip
        pool = collect_pool(source, trained.model, trained.label, options, n_jobs=n_jobs, progress=progress)
        if not len(pool):
            raise InputError(
                "there are no candidates to ask about: no two words of the vocabulary co-occur often enough; lower "
                "--min-count and --min-together, or take away --w1, --w2 and --among"
            )
        fixed = options.w1 is not None, options.w2 is not None
        return cls(source, pool, trained, preset, fixed, tuple(trained.notes))

    def train(self, examples: Examples) -> Trained:
        """A model from the examples and answers so far; the last one is kept."""
        asked_for = (examples.positives, examples.negatives)
        if self._kept is None or self._kept[0] != asked_for:
            model = self.first.model
            trained = train_on_examples(
                self.source, examples, drawn=self.first.drawn, seed=self.first.seed, preset=self.preset,
                basis=model.basis, settings=model.counting, n_jobs=1,
            )  # fmt: skip
            self._kept = asked_for, trained
        return self._kept[1]

    def rank(self, examples: Examples) -> Ranking:
        """The candidates under the model of these examples."""
        trained = self.train(examples)
        if self._features is None or not self._features.fit(trained.model):
            self._features = self.pool.features(trained.model)
        scores = PoolScores.of(self.pool, trained.model, trained.label, self._features)
        known = KnownPairs(self.source, examples.pairs).mark(scores.matrix, trained.model)
        return Ranking(
            scores.matrix.pairs, scores.score, scores.probability, scores.together, known,
            (len(trained.examples.positives), len(trained.examples.negatives)), trained.f1,
        )  # fmt: skip

    def lines(self, examples: Examples, pairs: Sequence[Pair], most: int = LINES) -> list[list[Context]]:
        """The best sentences of some pairs under the model of these examples."""
        trained = self.train(examples)
        return best_lines(self.source, trained.model, pairs, trained.label, most)
