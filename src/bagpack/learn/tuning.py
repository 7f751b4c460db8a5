"""C and v12's factor by inner cross-validation on the training rows alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bagpack.learn.gram import add_block_gram
from bagpack.learn.svm import UnconvergedError
from bagpack.learn.targets import Targets, decode

if TYPE_CHECKING:
    from bagpack.learn.fitting import Machine, WeightedBlock
    from bagpack.learn.types import Floats, Ints

COSTS = (0.3, 1.0, 3.0, 10.0)  # times the C that was asked for
FACTORS = (0.5, 1.0, 2.0)  # times v12's own
FOLDS = 3
MOST_ROWS = 4_000  # past this, a dozen machines more cost minutes: the defaults are kept
MOST_STEPS = 200_000


@dataclass(frozen=True)
class Choice:
    """What inner cross-validation chose, and its score there."""

    C: float
    factor: float
    score: float


def inner_folds(targets: Targets) -> list[tuple[Ints, Ints]]:
    """Training and test rows of each inner fold, every answer spread evenly; the same for the same rows."""
    order = np.random.default_rng(0).permutation(len(targets))
    key = (
        targets.ratings
        if targets.kind == "rating"
        else targets.columns @ (1 << np.arange(targets.columns.shape[1]) % 62)
    )
    order = order[np.argsort(key[order], kind="stable")]
    fold = np.empty(len(targets), dtype=np.int64)
    fold[order] = np.arange(len(targets)) % FOLDS
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(FOLDS)]


def condition_gram_parts(blocks: Sequence[WeightedBlock]) -> tuple[Floats | None, Floats | None]:
    """Gram matrix of all blocks but v12, and that of v12, of the shifted features."""
    rest: Floats | None = None
    pairs: Floats | None = None
    for block in blocks:
        if block.weighting.name == "v12":
            pairs = add_block_gram(None, block.gram(plain=False), block.index)
        else:
            rest = add_block_gram(rest, block.gram(plain=False), block.index)
    return rest, pairs


def _grams(rest: Floats | None, pairs: Floats | None) -> Iterator[tuple[float, Floats]]:
    if pairs is None or rest is None:
        # One block alone has no weight against another; its size is C's business.
        yield 1.0, rest if pairs is None else pairs  # type: ignore[misc]
        return
    for factor in FACTORS:
        yield factor, rest + factor**2 * pairs


def _score(targets: Targets, decisions: Floats) -> float:
    """Mean F1 over labels, or Spearman's ρ."""
    if targets.kind == "rating":
        from scipy.stats import rankdata

        if np.ptp(decisions) == 0:
            return 0.0
        return float(np.corrcoef(rankdata(decisions[:, 0]), rankdata(targets.ratings))[0, 1])
    answers = decode(targets, decisions)
    truth = targets.one_hot()
    found = answers if answers.ndim == 2 else np.eye(truth.shape[1], dtype=bool)[answers]
    both = (truth & found).sum(axis=0)
    total = truth.sum(axis=0) + found.sum(axis=0)
    return float(np.mean(np.where(total > 0, 2 * both / np.maximum(total, 1), 0.0)[truth.any(axis=0)]))


def choose(blocks: Sequence[WeightedBlock], targets: Targets, machine: Machine) -> Choice:
    """The C and the factor on v12 that do best in inner folds; of equal ones, those nearest the defaults."""
    from bagpack.learn.fitting import solve_gram

    folds = inner_folds(targets)
    found: list[Choice] = []
    for factor, gram in _grams(*condition_gram_parts(blocks)):
        for cost in COSTS:
            tried = replace(machine, C=machine.C * cost)
            decisions = None
            for train, test in folds:
                try:
                    dual = solve_gram(gram[np.ix_(train, train)], targets[train], tried, MOST_STEPS)
                except UnconvergedError:
                    decisions = None
                    break
                values = gram[np.ix_(test, train)] @ dual.coef + dual.intercept
                if decisions is None:
                    decisions = np.zeros((len(targets), values.shape[1]))
                decisions[test] = values
            if decisions is not None:
                found.append(Choice(tried.C, factor, _score(targets, decisions)))
    if not found:
        return Choice(machine.C, 1.0, float("nan"))
    return max(
        found, key=lambda c: (round(c.score, 6), -abs(np.log(c.C / machine.C)) - abs(np.log(c.factor)))
    )
