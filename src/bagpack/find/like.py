"""Pairs like a single one, without training: a model whose weights are the pair's own patterns.

The terms between and around the two words of a pair, and the order of the words, say how its relation is expressed.
Each v12 feature gets the weight with which it is more frequent with the pair than in the corpus; candidates are ranked
by these patterns and by how similar their words' contexts are to the pair's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bagpack.basis import Basis, BasisSize
from bagpack.contexts.source import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.corpus import Corpus
from bagpack.errors import InputError
from bagpack.explain.similar import WEIGHTS
from bagpack.learn.fitting import fit_weighting
from bagpack.learn.model import LinearModel, counted_with, pair_hashes
from bagpack.learn.presets import get_preset
from bagpack.names import feature_at
from bagpack.parallel import Progress
from bagpack.sources import as_source
from bagpack.vectors.matrix import BlockMatrix, Pair
from bagpack.wording import say_feature, say_times

SHOWN = 5
LIKE, UNLIKE = "like", "unlike"


@dataclass(frozen=True)
class Prototype:
    """A model that scores pairs by their similarity to one pair, and the pair's strongest patterns in words."""

    model: LinearModel
    pair: Pair
    together: int
    patterns: tuple[str, ...]

    @property
    def notes(self) -> list[str]:
        """What a reader must know of the ranking."""
        w1, w2 = self.pair
        return [
            f"ranked by similarity to {w1} – {w2}, seen together {say_times(self.together)}; nothing was trained, and "
            f"there are no probabilities",
            f"its strongest patterns: {'; '.join(self.patterns)}",
        ]


def make_prototype(
    corpus: Corpus | ContextSource, pair: Pair, *, b: BasisSize = 1500, basis: Basis | None = None,
    settings: CountSettings | None = None, n_jobs: int | None = None, progress: Progress | None = None,
) -> Prototype:  # fmt: skip
    """A model of one pair: the score of another is the weighted mean of the cosines of v1, v2 and v12.

    Blocks are weighted as in preset `modern`; see `bagpack.explain.similar` for the same comparison with a list.
    """
    source = as_source(corpus)
    missing = [word for word, target in zip(pair, source.resolve(pair), strict=True) if target is None]
    if missing:
        raise InputError(f"the corpus does not contain {' and '.join(map(repr, missing))}; give another pair")
    basis = basis or source.pick_basis(b, n_jobs)
    matrix = BlockMatrix.count(source, [pair], basis, settings or CountSettings(), n_jobs, progress)
    together = int(matrix.seen[0])
    if not together:
        raise InputError(
            f"{pair[0]} and {pair[1]} never co-occur in the corpus, so there is no pattern to look for; give a pair "
            f"that does"
        )
    preset = get_preset("modern")
    weightings, weights = [], []
    for name, weight in WEIGHTS.items():
        weighting = fit_weighting(matrix.blocks[name], preset)
        row = weighting.apply(matrix.blocks[name].compact()).expanded().toarray()[0]
        length = float(np.linalg.norm(row))
        weightings.append(weighting)
        weights.append((weight * row / length if length else row)[:, None])
    model = LinearModel(
        kind="binary", classes=(UNLIKE, LIKE), condition="v1v2v12", preset=preset.name,
        weightings=tuple(weightings), weights=tuple(weights), intercept=np.zeros(1),
        trained=np.unique(pair_hashes([pair])), **counted_with(matrix),
    )  # fmt: skip
    return Prototype(model, pair, together, _patterns(model, pair))


def _patterns(model: LinearModel, pair: Pair) -> tuple[str, ...]:
    """The v12 features with the largest weights, in words."""
    weights = model.weights[-1][:, 0]
    best = [column for column in np.argsort(-weights, kind="stable")[:SHOWN].tolist() if weights[column] > 0]
    return tuple(say_feature(feature_at("v12", column, model.terms), *pair).pattern for column in best)
