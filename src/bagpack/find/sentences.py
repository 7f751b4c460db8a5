"""The best sentences of a pair: those with the highest score for a relation.

Each co-occurrence is weighed as if the pair had been seen there alone: the model's decision value of that one v12
vector. Among equals the shortest sentence is shown, then the first of the corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.concordance import Context, show_all
from bagpack.contexts.count import Csr, make_rows, search_pairs, sum_features, tasks_of_known
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
    settings = CountSettings(model.counting.windows, LOOKED_AT)
    for numbers, task in tasks_of_known(corpus, pairs, targets_of(source, pairs), settings):
        one, two = task.lengths
        best: list[list[tuple[float, int, int]]] = [[] for _ in numbers]  # (-score, piece, place)
        pieces: list[tuple[Observations, NDArray[np.int64]]] = []
        for own, counts in search_pairs(task)[0]:
            owner = np.repeat(np.arange(task.size), counts)
            singly, taken = np.ones(owner.size, np.int64), np.zeros((owner.size, 2), np.int64)
            lengths, values, columns = sum_features(
                corpus.segments, [(own, singly)], one[owner], two[owner], model.basis, settings, taken
            )
            rows = make_rows(values, columns, np.cumsum(lengths), 6 * len(model.basis))
            scores = _scores(model, rows, label)
            pieces.append((own, owner))
            _keep(best, owner, scores, len(pieces) - 1, SHOWN + most)
        for at, found in enumerate(best):
            lines[numbers[at]] = _shown(corpus, model, found, pieces, (one, two), most)
    return lines


def _scores(model: LinearModel, rows: Csr, label: Any) -> NDArray[np.float64]:
    """The decision value of each row of v12 counts alone; 0 for a model that does not use v12."""
    if "v12" not in model.weights:
        return np.zeros(rows.shape[0])
    output, sign = model.output_of(label)
    weighted = model.preset.pair_rows(model.learned, rows, model.basis)
    return np.asarray(sign * (weighted @ model.weights["v12"][:, output]))


def _keep(
    best: list[list[tuple[float, int, int]]], owner: NDArray[np.int64], scores: NDArray[np.float64], piece: int,
    most: int,
) -> None:  # fmt: skip
    """Add the best co-occurrences of a piece to each pair's, and keep the best of them."""
    order = np.lexsort((np.arange(owner.size), -scores, owner))
    starts = np.searchsorted(owner[order], np.arange(len(best) + 1))
    for pair in np.unique(owner).tolist():
        top = order[starts[pair] : starts[pair + 1]][:most].tolist()
        best[pair] = sorted([*best[pair], *((-float(scores[i]), piece, i) for i in top)])[:most]


def _shown(
    corpus: object, model: LinearModel, found: list[tuple[float, int, int]],
    pieces: Sequence[tuple[Observations, NDArray[np.int64]]],
    lengths: tuple[NDArray[np.int64], NDArray[np.int64]], most: int,
) -> list[Context]:  # fmt: skip
    """The sentences written out: by score in steps of a tenth, then the shortest; each sentence once."""
    written: list[tuple[float, int, int, Context]] = []
    for rank, (minus, piece, index) in enumerate(found):
        own, owner = pieces[piece]
        pair = int(owner[index])
        own_lengths = [int(side[pair]) for side in lengths]
        line = show_all(corpus, own.take(slice(index, index + 1)), own_lengths, model.counting.windows)[0]  # type: ignore[arg-type]
        written.append((round(minus, 1), len(line.text), rank, line))
    written.sort(key=lambda item: item[:3])
    once = {line.text: line for _, _, _, line in reversed(written)}
    return [once[text] for text in dict.fromkeys(line.text for _, _, _, line in written)][:most]
