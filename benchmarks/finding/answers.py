"""How many answers until fifty correct new pairs are found: by rank, by uncertainty, a mix of both, at random.

A person is simulated by gold labels. As in `bagpack teach`, the candidates are the best of a first model, trained on
five examples; here the model is trained again after every twenty answers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bagpack.find.examples import Examples
from bagpack.find.pool import Pool
from bagpack.find.questions import STRATEGIES, Strategy
from bagpack.find.teaching import SCORED, Teaching
from bagpack.find.training import train_on_examples
from benchmarks.finding.material import Pair, Task, seeds_of, tasks

RELATIONS = ("PartOf", "UsedFor", "HasProperty")
SEEDS, EVERY, WANTED, MOST = 5, 20, 50, 2_000


def main(relations: Sequence[str] = RELATIONS, strategies: Sequence[str] = STRATEGIES) -> None:
    """Answers that each strategy needs, or how many correct pairs it found if it did not get there."""
    for relation, task in tasks(relations):
        seeds = seeds_of(task.gold, SEEDS, 0)
        teaching = start(task, seeds)
        gold = sum(
            frozenset(pair) in {frozenset(own) for own in task.gold} for pair in teaching.pool.matrix.pairs
        )
        print(
            f"   {relation}: {len(task.matrix):,} pairs, {len(task.gold):,} of them gold; among the "
            f"{len(teaching.pool):,} candidates {gold:,}",
            flush=True,
        )
        for strategy in strategies:
            asked, right = simulate(teaching, task.gold, seeds, strategy)  # type: ignore[arg-type]
            reached = f"{WANTED} after {asked} answers" if right >= WANTED else f"{right} after {asked}"
            print(f"      {strategy}: {reached}", flush=True)


def start(task: Task, seeds: Sequence[Pair]) -> Teaching:
    """The best candidates of a model that is trained on the seeds."""
    first = train_on_examples(task.source, Examples("yes", tuple(seeds)), basis=task.matrix.basis)
    label = first.model.classes.index("yes")
    scores = [first.model.label_scores(own)[:, label] for own in (task.matrix, task.reversed)]
    best = np.sort(np.argsort(-np.maximum(*scores), kind="stable")[:SCORED])
    return Teaching(task.source, Pool(task.source, task.matrix[best], True, len(task.matrix)), first)


def simulate(
    teaching: Teaching, gold: set[Pair], seeds: Sequence[Pair], strategy: Strategy
) -> tuple[int, int]:
    """How many questions were answered, and how many of the answers were yes."""
    positives, negatives = list(seeds), []
    asked: list[Pair] = []
    ranking = None
    while len(positives) - len(seeds) < WANTED and len(asked) < MOST:
        if ranking is None or strategy != "random":
            ranking = teaching.rank(Examples("yes", tuple(positives), tuple(negatives)))
        chosen = ranking.questions(strategy, EVERY, asked=asked, turn=len(asked))
        if not chosen:
            break
        for pair in (ranking.pairs[index] for index in chosen):
            asked.append(pair)
            (positives if pair in gold else negatives).append(pair)
            if len(positives) - len(seeds) == WANTED:
                break
        print(f"        {strategy}: {len(positives) - len(seeds)} after {len(asked)}", flush=True)
    return len(asked), len(positives) - len(seeds)


if __name__ == "__main__":
    main()
