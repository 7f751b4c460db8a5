"""`PairVectorizer`: from pairs of words to counts, the scikit-learn way."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bagpack import parallel
from bagpack.arrays import Csr
from bagpack.basis import Basis
from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.errors import InputError
from bagpack.names import blocks_of, feature_names
from bagpack.sources import as_source
from bagpack.vectors.counts import Pair, PairCounts, as_pairs, count_cached


class TakesPairs(BaseEstimator):
    """An estimator whose X is pairs of words, or their counts."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


# Rows are sparse, so there is no set_output.
class PairVectorizer(TransformerMixin, TakesPairs, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Counts v1, v2 and v12 of word pairs in a corpus.

    ``corpus`` is a `Corpus`, another source of contexts, or its path; ``b`` the number of unigrams and of bigrams
    in the basis, unless a `Basis` is given; ``windows`` are `Windows`, or text such as ``"4/2-5-2"``; at most
    ``limit`` observations of each word and of each unordered pair are counted, in corpus order. `transform`
    returns the blocks of ``condition``: ``v1v2``, ``v12`` or ``v1v2v12``. ``n_jobs`` are workers, through joblib.

    Examples
    --------
    >>> X = PairVectorizer(corpus, b=1500).fit_transform([("cat", "lion")])  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (1, 30000)
    """

    def __init__(
        self, corpus: ContextSource | str | Path, b: int = 1500, *, basis: Basis | None = None,
        windows: Windows | str = "4/2-5-2", limit: int | None = 5000, condition: str = "v1v2v12",
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self.corpus = corpus
        self.b = b
        self.basis = basis
        self.windows = windows
        self.limit = limit
        self.condition = condition
        self.n_jobs = n_jobs

    def fit(self, X: Iterable[Pair], y: Any = None) -> PairVectorizer:
        """Choose the basis; the pairs are not used."""
        if not as_pairs(X):
            raise InputError("there are no pairs to fit on (0 samples); a minimum of 1 is required")
        blocks_of(self.condition)
        windows = self.windows if isinstance(self.windows, Windows) else Windows.parse(self.windows)
        self.settings_ = CountSettings(windows, self.limit)
        with parallel.settings(n_jobs=self.n_jobs):
            self.basis_ = self.basis if self.basis is not None else as_source(self.corpus).pick_basis(self.b)
        self.n_features_in_ = 2
        return self

    def transform(self, X: Iterable[Pair]) -> Csr:
        """Counts, pairs × features, as a sparse array. Pairs that were counted recently are not counted again."""
        return self.count(X).tocsr(self.condition)

    def count(self, X: Iterable[Pair]) -> PairCounts:
        """Counts as the estimators of `bagpack.learn` take them: each word and each pair is stored once."""
        check_is_fitted(self, "basis_")
        with parallel.settings(n_jobs=self.n_jobs):
            return count_cached(as_source(self.corpus), as_pairs(X), self.basis_, self.settings_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        check_is_fitted(self, "basis_")
        return np.array(feature_names(self.basis_.terms, self.condition), dtype=object)
