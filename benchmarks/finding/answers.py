"""How many answers until fifty correct new pairs are found: by rank, by uncertainty, a mix of both, at random.

A person is simulated by gold labels. Each run starts with five examples; the model is trained again after every ten
answers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bagpack.find.examples import Examples
from bagpack.find.questions import STRATEGIES, next_questions
from bagpack.find.training import train_on_examples
from benchmarks.finding.material import Pair, Task, seeds_of, tasks

RELATIONS = ("PartOf", "UsedFor", "HasProperty")
SEEDS, EVERY, WANTED, MOST = 5, 10, 50, 500


def main(relations: Sequence[str] = RELATIONS) -> None:
    """Answers that each strategy needs, and how many it found if it did not get there."""
    for relation, task in tasks(relations):
        shown = []
        for strategy in ("rank", "mix", "uncertainty"):
            asked, right = simulate(task, strategy)
            shown.append(f"{strategy} {asked}" if right >= WANTED else f"{strategy} {right} after {asked}")
        share = (len(task.gold) - SEEDS) / len(task.matrix)
        shown.append(f"random about {WANTED / share:,.0f} (one pair in {1 / share:.0f} is gold)")
        print(f"   {relation}: {', '.join(shown)}", flush=True)


def simulate(task: Task, strategy: str) -> tuple[int, int]:
    """How many questions were answered, and how many of the answers were yes."""
    assert strategy in STRATEGIES
    positives: list[Pair] = seeds_of(task.gold, SEEDS, 0)
    negatives: list[Pair] = []
    drawn = None
    answered = {k for k, pair in enumerate(task.matrix.pairs) if pair in positives or pair[::-1] in positives}
    asked = 0
    while len(positives) - SEEDS < WANTED and asked < MOST:
        trained = train_on_examples(
            task.source,
            Examples("yes", tuple(positives), tuple(negatives)),
            basis=task.matrix.basis,
            drawn=drawn,
        )
        drawn = trained.drawn
        label = trained.model.classes.index("yes")
        both = [trained.model.label_scores(own)[:, label] for own in (task.matrix, task.reversed)]
        scores = np.maximum(*both)
        for index in next_questions(scores, answered, strategy=strategy, number=EVERY, turn=asked):  # type: ignore[arg-type]
            one, two = task.matrix.pairs[index]
            pair = (one, two) if both[0][index] >= both[1][index] else (two, one)
            answered.add(index)
            asked += 1
            if pair in task.gold:
                positives.append(pair)
            else:
                negatives.append(pair)
    return asked, len(positives) - SEEDS


if __name__ == "__main__":
    main()
