"""What pairs are ranked by, and what single words add to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bagpack.find.background import MANIFEST
from bagpack.learn.model import LinearModel
from bagpack.learn.types import Label
from bagpack.learn.weighting import Step
from bagpack.vectors.blocks import Block
from bagpack.vectors.tables import CountTables

Floats = NDArray[np.float64]
I64 = NDArray[np.int64]

TINY = 1e-9  # probabilities are at least this far from 0 and 1


def label_score(model: LinearModel, decisions: Floats, label: Label, totals: I64) -> Floats:
    """What pairs are ranked by: the label's decision value or, where labels compete, its log odds.

    A model that was trained without background pairs has to give each pair one of its labels; to its log odds the PMI
    of the two words is added, since most pairs that co-occur by chance are in no relation: docs/finding.md. ``totals``
    has n(w1), n(w2), n+ and n− of each pair.
    """
    if model.kind == "multiclass" and model.calibration is not None:
        probability = model.probabilities(decisions)[:, model.classes.index(label)]
        certain = np.clip(probability, TINY, 1 - TINY)
        odds: Floats = np.log(certain) - np.log1p(-certain)
        if not model.manifest.get(MANIFEST) and model.basis is not None:
            n1, n2, plus, minus = totals.astype(np.float64).T
            together = np.maximum(plus + minus, 0.5)  # for pairs that never co-occur
            odds += np.log(together * max(model.basis.tokens, 1) / np.maximum(n1 * n2, 1))
        return odds
    output, sign = model.output_of(label)
    score: Floats = sign * decisions[:, output]
    return score


def word_scores(model: LinearModel, tables: CountTables, label: Label) -> tuple[Floats, Floats]:
    """What each word of the table adds to the label's decision as the first word, and as the second."""
    output, sign = model.output_of(label)
    found = {name: np.zeros(tables.words.rows.shape[0]) for name in ("v1", "v2")}
    memory: list[tuple[Step, Block, Block]] = []  # v1 and v2 have the same rows
    for weighting, weights in zip(model.weightings, model.weights, strict=True):
        if weighting.name in found:
            block = Block(weighting.name, tables.words.rows, frequencies=tables.basis.frequencies)
            block = weighting.apply(block, memory)
            found[weighting.name] = sign * (block.rows @ weights[:, output])
    return found["v1"], found["v2"]
