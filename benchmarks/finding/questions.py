"""Questions with one word (`find EXAMPLES --w1 WORD` or `--w2 WORD`), with and without the examples of similar words.

Mean average precision of the first 100 answers to questions about words with at least three answers. A correct pair
that the set lacks counts as wrong. The relations are for development: the weight of similar examples was chosen there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from bagpack.contexts.source import CorpusSource
from bagpack.find.examples import Examples
from bagpack.find.ranking import find_pairs
from bagpack.find.training import train_on_examples
from bagpack.sources import as_source
from benchmarks.finding.labels import ASKED, gold_pairs
from benchmarks.finding.material import Pair, store

NUMBERS = (20, 60, 200)  # of examples, at most half of the gold pairs
QUESTIONS, LEAST, LISTED = 8, 3, 100


def main(numbers: Sequence[int] = NUMBERS) -> None:
    """The mean of each relation, and of all."""
    source = as_source(store())
    assert isinstance(source, CorpusSource)
    basis = source.pick_basis(1500)
    gold = {label: pairs for name in ASKED for label, pairs in gold_pairs(source, name).items()}
    for number in numbers:
        means = []
        for label in (label for own in ASKED.values() for label in own):
            pairs = gold[label]
            rng = np.random.default_rng(0)
            order = rng.permutation(len(pairs)).tolist()
            examples = [pairs[k] for k in order[: min(number, len(pairs) // 2)]]
            trained = train_on_examples(source, Examples(label, tuple(examples)), basis=basis)
            precisions = [
                [_precision(source, model, side, word, answers) for model in (trained.model, trained)]
                for side, word, answers in _asked(set(pairs) - set(examples), rng)
            ]
            means.append(np.mean(precisions, axis=0))
            print(
                f"   {len(examples)} examples of {label}, {len(precisions)} questions: MAP {means[-1][0]:.3f}, "
                f"with similar examples {means[-1][1]:.3f}",
                flush=True,
            )
        alone, both = np.mean(means, axis=0)
        print(f"   mean of {len(means)}: MAP {alone:.3f}, with similar examples {both:.3f}", flush=True)


def _asked(gold: set[Pair], rng: np.random.Generator) -> list[tuple[int, str, set[str]]]:
    """The place of a word, the word, and its partners."""
    asked = []
    for side in (0, 1):
        answers: dict[str, set[str]] = defaultdict(set)
        for pair in gold:
            answers[pair[side]].add(pair[1 - side])
        words = sorted(word for word, own in answers.items() if len(own) >= LEAST)
        asked += [
            (side, words[k], answers[words[k]]) for k in rng.permutation(len(words))[:QUESTIONS].tolist()
        ]
    return asked


def _precision(source: CorpusSource, model: object, side: int, word: str, answers: set[str]) -> float:
    fixed = {("w1", "w2")[side]: word}
    found = find_pairs(source, model, **fixed, top=LISTED, scored=300, per_word=None, sentences=False)  # type: ignore[arg-type]
    hits = np.array([(row.w1, row.w2)[1 - side] in answers for row in found], bool)
    precisions = (np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits]
    return float(precisions.sum() / min(len(answers), LISTED))


if __name__ == "__main__":
    main()
