"""The method of preset `paper`, written down literally over dense matrices."""

import numpy as np
from tests.synthetic import counts_of

CONDITIONS = ("v1v2", "v12", "v1v2v12")


def dense_scaled(counts, fit_rows):
    """TF-IDF and two-sigma scaling of the whole matrix, fitted on ``fit_rows``."""
    raw = counts.tocsr().toarray().astype(float)
    df = (raw[fit_rows] > 0).sum(axis=0)
    weighted, scaled = np.zeros_like(raw), np.zeros_like(raw)
    for j in np.flatnonzero(df):
        weighted[:, j] = raw[:, j] * np.log(len(raw[fit_rows]) / df[j])
    mean, sigma = weighted[fit_rows].mean(axis=0), weighted[fit_rows].std(axis=0)
    for j in np.flatnonzero(sigma > 1e-13 * mean):
        low = mean[j] - 2 * sigma[j]
        scaled[:, j] = np.clip((weighted[:, j] - low) / (4 * sigma[j]), 0, 1)
    return scaled


def columns_of(condition, counts):
    single = 4 * len(counts.basis)
    return {"v1v2": slice(0, single), "v12": slice(single, None), "v1v2v12": slice(None)}[condition]


def without_counts(counts):
    """The same pairs of words that the corpus does not have."""
    return counts_of(
        counts.words * 0, counts.w1, counts.w2, counts.together * 0, counts.basis.unigrams,
        found=counts.totals[:, 2:4] * 0, frequencies=counts.basis.unigram_counts,
    )  # fmt: skip


def objective(decisions, weights, y, C=1.0, epsilon=None):
    """½‖w‖² + C Σ loss, of signs y or, with an epsilon, of ratings."""
    loss = 1 - y * decisions if epsilon is None else np.abs(y - decisions) - epsilon
    return 0.5 * (weights**2).sum() + C * np.maximum(0, loss).sum()
