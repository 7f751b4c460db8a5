"""Which candidate to ask about next, for teaching a model by answers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Strategy = Literal["mix", "uncertainty", "rank", "random"]
STRATEGIES = ("mix", "uncertainty", "rank", "random")


def next_questions(
    scores: NDArray[np.float64], answered: Collection[int] = (), *, strategy: Strategy = "mix", number: int = 1,
    turn: int = 0, seed: int = 0,
) -> list[int]:  # fmt: skip
    """Numbers of the candidates to ask about next.

    Parameters
    ----------
    scores
        The model's decision value of each candidate; 0 is the border between yes and no.
    answered
        Numbers of the candidates that are answered or skipped.
    strategy
        ``rank``: the highest score; ``uncertainty``: the score nearest to 0; ``random``; ``mix``: rank and uncertainty
        in turns.
    turn
        How many questions were asked before; `mix` and `random` depend on it.

    Examples
    --------
    >>> scores = np.array([2.0, -0.1, 0.5, -3.0])
    >>> next_questions(scores, strategy="rank", number=2), next_questions(scores, strategy="uncertainty")
    ([0, 2], [1])
    >>> next_questions(scores, answered=[0], number=3)
    [2, 1, 3]
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"unknown strategy {strategy!r}; choose one of {', '.join(STRATEGIES)}")
    open_ = np.setdiff1d(np.arange(len(scores)), np.fromiter(answered, np.int64, len(answered)))
    if strategy == "random":
        drawn: list[int] = np.random.default_rng([seed, turn]).permutation(open_)[:number].tolist()
        return drawn
    by_rank: list[int] = open_[np.argsort(-scores[open_], kind="stable")].tolist()
    if strategy == "rank":
        return by_rank[:number]
    by_doubt: list[int] = open_[np.argsort(np.abs(scores[open_]), kind="stable")].tolist()
    if strategy == "uncertainty":
        return by_doubt[:number]
    chosen: dict[int, None] = {}
    queues = [iter(by_rank), iter(by_doubt)]
    while len(chosen) < min(number, len(open_)):
        queue = queues[(turn + len(chosen)) % 2]
        chosen[next(index for index in queue if index not in chosen)] = None
    return list(chosen)
