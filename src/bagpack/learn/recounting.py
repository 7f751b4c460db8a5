"""New pairs for a saved model: counted the way its training pairs were."""

from __future__ import annotations

from collections.abc import Sequence

from bagpack.basis import Basis
from bagpack.contexts.source import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.errors import StoreError
from bagpack.learn.model import LinearModel
from bagpack.parallel import Progress
from bagpack.vectors.matrix import Pair, PairMatrix


def model_basis(model: LinearModel) -> Basis:
    """The basis that a model was trained over."""
    count = model.manifest.get("unigrams")
    bigrams = model.manifest.get("bigrams")
    if not isinstance(count, int) or not isinstance(bigrams, list):
        raise StoreError(
            "the model does not say what its basis was, so no new pair can be counted; train it with bagpack train "
            "(an estimator explains its own: classifier.explain(pair))"
        )
    # Without the counts, statistics of new pairs would not be those that the model was trained on.
    counts = model.manifest.get("basis_counts")
    if not isinstance(counts, list) or len(counts) != count + len(bigrams):
        counts = []
    return Basis(
        tuple(model.terms[:count]),
        tuple((first, second) for first, second in bigrams),
        tuple(int(n) for n in counts[:count]),
        tuple(int(n) for n in counts[count:]),
    )


def count_for(
    model: LinearModel, source: ContextSource, pairs: Sequence[Pair], n_jobs: int | None = None,
    progress: Progress | None = None,
) -> PairMatrix:  # fmt: skip
    """The pairs, counted the way the model's training pairs were."""
    basis = model_basis(model)
    settings = CountSettings.from_dict(dict(model.manifest["counting"]))
    return PairMatrix.count(source, pairs, basis, settings, n_jobs, progress)
