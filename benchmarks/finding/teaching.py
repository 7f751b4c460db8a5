"""Teaching, simulated: the judgements of `judgements.tsv` answer the questions of the page, ten at a time.

For each relation, before and after 20 and 50 answers: the right pairs among the first 100, where answered pairs count
with the others (their yes, and the best of the rest), and precision at 30 of the pairs that are not answered, next to
that of the first list without the same pairs. Pairs without a judgement count as wrong and are written to
`unjudged.tsv` in the benchmark's data.

    BAGPACK_BENCH_STORE=STORE python -m benchmarks.finding.teaching
"""

from __future__ import annotations

import numpy as np

from bagpack import parallel
from bagpack.find.examples import Examples
from bagpack.find.teaching import Ranking, Teaching
from benchmarks.finding.material import Pair, store
from benchmarks.finding.precision import read_judgements, read_relations, write_unjudged

STEPS, AT_ONCE, FIRST, AT = (0, 20, 50), 10, 100, 30


def main() -> None:
    """A line per relation, and the means."""
    corpus, judged = store(), read_judgements()
    unjudged: set[tuple[str, ...]] = set()
    values = []

    def right(relation: str, pair: Pair) -> bool:
        if (relation, *pair) not in judged:
            unjudged.add((relation, *pair))
        return judged.get((relation, *pair), False)

    def measure(relation: str, first: Ranking, ranking: Ranking, answered: dict[Pair, bool]) -> list[float]:
        marks = [right(relation, row.pair) for row in ranking.rows[: FIRST - len(answered)]]
        untaught = [row.pair for row in first.rows if row.pair not in answered][:AT]
        control = sum(right(relation, pair) for pair in untaught) / AT
        return [sum(answered.values()) + sum(marks), sum(marks[:AT]) / AT, control]

    with parallel.settings(n_jobs=-1), parallel.on_threads():
        for part in ("development", "test"):
            for relation, examples in read_relations(part).items():
                teaching = Teaching.start(corpus, Examples(relation, tuple(examples)))
                answered: dict[Pair, bool] = {}
                first = teaching.rank()
                found, kept = [], 0
                while True:
                    ranking = teaching.rank(answered)
                    kept += ranking.kept
                    if len(answered) in STEPS:
                        found.append(measure(relation, first, ranking, answered))
                    if len(answered) >= STEPS[-1]:
                        break
                    for row, _ in ranking.questions(AT_ONCE):
                        answered[row.pair] = right(relation, row.pair)
                values.append(found)
                shown = ", ".join(
                    f"{total} right, {own:.2f} ({control:.2f})" for total, own, control in found
                )
                print(f"   {relation}: {shown}; {kept} times the model before was kept", flush=True)
    names = (f"right of {FIRST}", f"precision at {AT}", "the same without teaching")
    for name, means in zip(names, np.mean(values, axis=0).T, strict=True):
        print(f"   {name} after {STEPS} answers: {means.round(3)}")
    write_unjudged(unjudged)


if __name__ == "__main__":
    main()
