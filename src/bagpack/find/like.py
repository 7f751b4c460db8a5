"""Pairs like a single one, without training: a model whose weights are the pair's own patterns.

The terms between and around the two words of a pair, and the order of the words, say how its relation is expressed.
Each v12 feature gets the weight with which it is more frequent with the pair than in the corpus; candidates are ranked
by these patterns and by how similar their words' contexts are to the pair's.
"""

from __future__ import annotations

import numpy as np

from bagpack.basis import Basis
from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.errors import InputError
from bagpack.learn.features import get_preset
from bagpack.learn.model import LinearModel, pair_hashes
from bagpack.names import block_features
from bagpack.sources import as_source
from bagpack.vectors.counts import Pair, count_pairs
from bagpack.wording import say_feature, say_times

SHOWN = 5
WEIGHTS = {"v1": 0.25, "v2": 0.25, "v12": 0.5}  # the words as much as the two together
LIKE, UNLIKE = "like", "unlike"


def make_prototype(
    corpus: ContextSource, pair: Pair, *, b: int = 1500, basis: Basis | None = None,
    settings: CountSettings | None = None,
) -> tuple[LinearModel, list[str]]:  # fmt: skip
    """A model of one pair, and what a reader must know of its ranking.

    The score of another pair is the weighted mean of the cosines of v1, v2 and v12, weighted as in preset `modern`.
    """
    source = as_source(corpus)
    missing = [word for word, target in zip(pair, source.resolve(pair), strict=True) if target is None]
    if missing:
        raise InputError(f"the corpus does not contain {' and '.join(map(repr, missing))}; give another pair")
    counts = count_pairs(source, [pair], basis or source.pick_basis(b), settings or CountSettings())
    together = int(counts.seen[0])
    if not together:
        raise InputError(
            f"{pair[0]} and {pair[1]} never co-occur in the corpus, so there is no pattern to look for; give a pair "
            f"that does"
        )
    preset = get_preset("modern")
    features = preset.features({}, counts, "v1v2v12")
    weights = features.split(features.matrix().toarray().T)
    for name, row in weights.items():
        row *= WEIGHTS.get(name, 0.0) / (float(np.linalg.norm(row)) or 1.0)
    model = LinearModel(
        kind="binary", classes=(UNLIKE, LIKE), condition="v1v2v12", preset=preset, weights=weights,
        intercept=np.zeros(1), basis=counts.basis, counting=counts.settings, source_path=counts.source_path,
        source_hash=counts.source_hash, trained=np.unique(pair_hashes(counts)),
    )  # fmt: skip
    own = weights["v12"][:, 0]
    best = [column for column in np.argsort(-own, kind="stable")[:SHOWN].tolist() if own[column] > 0]
    names = block_features("v12", model.terms)
    patterns = [say_feature(names[column], *pair).pattern for column in best]
    return model, [
        f"ranked by similarity to {pair[0]} – {pair[1]}, seen together {say_times(together)}; nothing was trained, and "
        f"there are no probabilities",
        f"its strongest patterns: {'; '.join(patterns)}",
    ]
