"""`PairVectorizer`: from pairs of words to counts, the scikit-learn way."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from bagpack.basis import Basis
from bagpack.contexts.count import Csr
from bagpack.contexts.source import ContextSource
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.errors import UsageError
from bagpack.names import blocks_of, feature_names
from bagpack.sources import as_source
from bagpack.vectors.matrix import Pair, PairMatrix

if TYPE_CHECKING:
    from bagpack.corpus.store.corpus import Corpus
    from bagpack.learn.counts import PairCounts


class PairVectorizer(TransformerMixin, BaseEstimator):
    """Counts v1, v2 and v12 of word pairs in a corpus.

    Parameters
    ----------
    corpus
        A `Corpus` (or another source of contexts).
    b
        How many unigrams and how many bigrams make the basis.
    basis
        A `Basis` to use instead of picking one.
    windows
        `Windows`, or text such as ``"4/2-5-2"``.
    limit
        At most so many observations of each word and of each unordered pair, in corpus order; None takes all.
    sample
        A seed: draw `limit` observations uniformly instead of taking the first.
    count
        ``"context"``: a term counts once per context; ``"token"``: as often as it stands there.
    condition
        Which blocks `transform` returns: ``v1v2``, ``v12`` or ``v1v2v12``.
    n_jobs
        Workers, through joblib.

    Examples
    --------
    >>> X = PairVectorizer(corpus, b=1500).fit_transform([("cat", "lion")])  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (1, 30000)
    """

    def __init__(
        self,
        corpus: Corpus | ContextSource | str | Path,
        b: int = 1500,
        *,
        basis: Basis | None = None,
        windows: Windows | str = "4/2-5-2",
        limit: int | None = 5000,
        sample: int | None = None,
        count: str = "context",
        condition: str = "v1v2v12",
        n_jobs: int | None = None,
    ) -> None:
        self.corpus = corpus
        self.b = b
        self.basis = basis
        self.windows = windows
        self.limit = limit
        self.sample = sample
        self.count = count
        self.condition = condition
        self.n_jobs = n_jobs

    def fit(self, X: Iterable[Pair], y: Any = None) -> PairVectorizer:
        """Pick the basis; the pairs themselves do not matter."""
        if not as_pairs(X):
            raise PairInputError("there are no pairs to fit on (0 samples); a minimum of 1 is required")
        self._prepare()
        return self

    def _prepare(self) -> None:
        blocks_of(self.condition)
        self.settings_ = CountSettings(
            self.windows if isinstance(self.windows, Windows) else Windows.parse(self.windows),
            self.limit,
            self.sample,
            self.count,
        )
        source = as_source(self.corpus)
        self.basis_ = self.basis if self.basis is not None else source.pick_basis(self.b, self.n_jobs)
        # A holder, since what it remembers is no part of the fitted state: transform leaves that as it is.
        self._remembered = [PairMatrix.count(source, [], self.basis_, self.settings_)]
        self.n_features_in_ = 2

    def matrix(self, X: Iterable[Pair]) -> PairMatrix:
        """The pairs as a `PairMatrix`; what was counted before is not counted again."""
        if not hasattr(self, "basis_"):
            self._prepare()
        pairs = as_pairs(X)
        matrix = self._remembered[0]
        new = [pair for pair in dict.fromkeys(pairs) if not matrix.holds(pair)]
        if new:
            matrix = self._remembered[0] = matrix.grow(as_source(self.corpus), new, self.n_jobs)
        return matrix.rows_of(pairs)

    def counts(self, X: Iterable[Pair]) -> PairCounts:
        """The pairs as the learners take them; see `PairMatrix.counts`."""
        return self.matrix(X).counts()

    def transform(self, X: Iterable[Pair]) -> Csr:
        """Counts, pairs × features."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "basis_")
        return self.matrix(X).block(self.condition)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "basis_")
        return np.array(feature_names(self.basis_.terms, self.condition), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = True
        return tags


class PairInputError(UsageError, ValueError):
    """What was given is not a list of pairs; a ValueError too, as scikit-learn has it."""


def as_pairs(X: Iterable[Any]) -> list[Pair]:
    """Pairs of strings from a list of pairs, an array of shape (n, 2), or a data frame of two columns."""
    if isinstance(X, str):
        raise PairInputError("pairs are needed, such as [('cat', 'lion')], not one string")
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if not hasattr(X, "__iter__") or hasattr(X, "tocsr"):
        raise PairInputError(
            f"pairs are needed, such as [('cat', 'lion')]; sparse or other data is not supported: {X!r}"
        )
    rows = X.tolist() if isinstance(X, np.ndarray) else list(X)
    pairs: list[Pair] = []
    for number, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 2:
            raise PairInputError(f"item {number} is not a pair of words: {row!r}; give (w1, w2)")
        w1, w2 = row
        if not isinstance(w1, str) or not isinstance(w2, str) or not w1.strip() or not w2.strip():
            raise PairInputError(
                f"item {number} is not a pair of words: {row!r}; both must be non-empty strings"
            )
        pairs.append((str(w1), str(w2)))
    return pairs
