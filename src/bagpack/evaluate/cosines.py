"""Analogies by centred cosines: the choice whose blocks point where the stem's do.

Two pairs have the same relation if they differ from other pairs in the same way. So the mean over all pairs is
subtracted from each row, and the cosines with the stem's row are added up over the blocks: v12, the difference of v1
and v2, and, with half the weight, v1 and v2 themselves. Nothing is trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bagpack.errors import InputError
from bagpack.evaluate.crossval import CONDITIONS, check_found
from bagpack.evaluate.questions import (
    QuestionEvaluation,
    QuestionRows,
    best_choices,
    complete_questions,
    score_questions,
    stems_of,
    unanswered_note,
)
from bagpack.learn.fitting import WeightedBlock, weight_blocks
from bagpack.learn.presets import Preset, get_preset
from bagpack.names import DIFFERENCE
from bagpack.vectors.matrix import BlockMatrix

if TYPE_CHECKING:
    from bagpack.learn.types import Floats, Ints

WEIGHTS = {"v1": 0.5, "v2": 0.5, DIFFERENCE: 1.0, "v12": 2.0}
BLOCKS_OF = {
    "v1v2": ("v1", "v2", DIFFERENCE),
    "v12": ("v12",),
    "v1v2v12": ("v1", "v2", DIFFERENCE, "v12"),
}


def centred_cosines(block: WeightedBlock, centre_on: Ints) -> Floats:
    """Cosine of every two rows after the mean of the rows ``centre_on`` was subtracted; 0 for all-zero rows."""
    gram = block.add_gram()
    filled = np.diag(gram) > 0
    mean = gram[:, centre_on].mean(axis=1)
    gram = gram - mean[:, None] - mean[None, :] + float(mean[centre_on].mean())
    lengths = np.sqrt(np.maximum(np.diag(gram), 1e-12))
    return np.where(filled[:, None] & filled[None, :], gram / lengths[:, None] / lengths[None, :], 0.0)


def solve_by_cosines(
    counts: BlockMatrix,
    questions: Sequence[QuestionRows],
    conditions: Sequence[str] = CONDITIONS,
    preset: str | Preset = "modern",
    *,
    transductive: bool = True,
) -> QuestionEvaluation:
    """Answer analogy questions by the sum of the blocks' centred cosines with the stem.

    The centre is that of all pairs, or of the stems alone where ``transductive`` is off.
    """
    if not questions:
        raise InputError("there is no analogy question to answer; give at least one")
    stems = np.array(stems_of(questions))
    unknown = [condition for condition in conditions if condition not in BLOCKS_OF]
    if unknown:
        raise InputError(f"analogies have no condition {unknown[0]!r}; choose one of {', '.join(BLOCKS_OF)}")
    check_found(counts)
    preset = get_preset(preset)
    centre_on = np.arange(len(counts)) if transductive else stems
    names = list(dict.fromkeys(name for condition in conditions for name in BLOCKS_OF[condition]))
    blocks = weight_blocks(counts, names, preset)
    cosines = {name: WEIGHTS[name] * centred_cosines(blocks[name], centre_on) for name in names}
    results = []
    for condition in conditions:
        total = np.sum([cosines[name] for name in BLOCKS_OF[condition]], axis=0)
        values = [total[stem, list(q.choices)] for stem, q in zip(stems, questions, strict=True)]
        complete = complete_questions(counts, questions, preset.blocks_of(condition))
        best = [best_choices(value) for value in values]
        results.append(score_questions(condition, questions, best, values, complete, None))
    settings = {"preset": preset.name, "answered by": "centred cosines", "transductive": transductive}
    centred = "all pairs (transductive)" if transductive else "the stems"
    notes = [
        f"Answered by cosines around the centre of {centred}; nothing was trained.",
        *unanswered_note(questions),
    ]
    return QuestionEvaluation("analogies", list(questions), results, [], transductive, settings, notes)
