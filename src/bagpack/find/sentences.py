"""The best sentences of a pair: those with the highest score for a relation.

Each co-occurrence is weighed as if the pair had been seen there alone: the model's decision value of that one v12
vector. Among equals the shortest sentence is shown, then the first of the corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bagpack.arrays import Csr, Floats
from bagpack.contexts.concordance import Context, show_all
from bagpack.contexts.count import divide_pairs, make_rows, search_pairs, sum_features
from bagpack.contexts.occurrences import Observations
from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.find.vocabulary import targets_of
from bagpack.learn.model import LinearModel
from bagpack.tasks.pairs import Pair

LOOKED_AT = 300  # co-occurrences of a pair, the first of the corpus
SHOWN = 4  # of the best by their vectors, whose sentences are written out and compared in length


def best_lines(
    source: ContextSource, model: LinearModel, pairs: Sequence[Pair], label: Any = None, most: int = 3
) -> list[list[Context]]:
    """At most ``most`` sentences of each pair, the best first; none for a pair that never co-occurs."""
    corpus = source.for_pairs
    lines: list[list[Context]] = [[] for _ in pairs]
    windows = model.counting.windows
    settings = CountSettings(windows, LOOKED_AT)
    target_of = targets_of(source, pairs)
    for numbers, task in divide_pairs(corpus, [(target_of[w1], target_of[w2]) for w1, w2 in pairs], settings):
        one, two = task.lengths
        owners, scores = [], []
        places: list[Observations] = []
        for own, counts in search_pairs(task)[0]:
            owner = np.repeat(np.arange(task.size), counts)
            singly, taken = np.ones(owner.size, np.int64), np.zeros((owner.size, 2), np.int64)
            sizes, values, columns = sum_features(
                corpus.segments, [(own, singly)], one[owner], two[owner], model.basis, settings, taken
            )
            rows = make_rows(values, columns, np.cumsum(sizes), 6 * len(model.basis))
            owners.append(owner)
            scores.append(_scores(model, rows, label))
            places += own.singly()
        if not places:
            continue
        owner, score = np.concatenate(owners), np.concatenate(scores)
        order = np.lexsort((-score, owner))
        for pair, best in enumerate(np.split(order, np.searchsorted(owner[order], np.arange(1, task.size)))):
            written = []
            for at in best[: SHOWN + most].tolist():
                line = show_all(corpus, places[at], [int(one[pair]), int(two[pair])], windows)[0]
                written.append((-round(float(score[at]), 1), len(line.text), line))
            written.sort(key=lambda item: item[:2])
            once = {line.text: line for _, _, line in reversed(written)}
            lines[numbers[pair]] = [once[text] for text in dict.fromkeys(w[2].text for w in written)][:most]
    return lines


def _scores(model: LinearModel, rows: Csr, label: Any) -> Floats:
    """The decision value of each row of v12 counts alone; 0 for a model that does not use v12."""
    if "v12" not in model.weights:
        return np.zeros(rows.shape[0])
    output, sign = model.output_of(label)
    weighted = model.preset.block_rows(model.learned, "v12", rows, model.basis)
    return np.asarray(sign * (weighted @ model.weights["v12"][:, output]))
