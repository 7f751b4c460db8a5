"""What pairs are ranked by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bagpack.find.background import MANIFEST
from bagpack.learn.model import LinearModel
from bagpack.learn.types import Label

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
