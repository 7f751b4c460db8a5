"""A model from examples of one relation: the pairs of the relation against all other pairs.

The negatives are drawn from the corpus, in several hands: one model is trained with each, and their weights are
averaged, which for linear models is the mean of their scores. One hand alone makes results depend on the draw.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bagpack import parallel
from bagpack.basis import Basis
from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.errors import InputError
from bagpack.find.examples import NO, UNNAMED, Examples, Pair
from bagpack.find.negatives import draw_negatives, number_to_draw
from bagpack.find.vocabulary import targets_of
from bagpack.learn.features import Modern, Preset, get_preset
from bagpack.learn.fitting import fit_counts, hold_out, shared_grams
from bagpack.learn.model import LinearModel, TrainingPairs, pair_hashes
from bagpack.learn.svm import SvmSettings
from bagpack.learn.targets import encode_targets
from bagpack.numbers import many
from bagpack.sources import as_source
from bagpack.vectors.counts import PairCounts, count_cached

Floats = NDArray[np.float64]

# With a few examples, the contexts of the two words together say more than those of each: docs/finding.md.
FEW_EXAMPLES = Modern(v12=2.0)
HANDS = 5
CONDITION = "v1v2v12"


@dataclass(frozen=True)
class Trained:
    """A model of one relation, and what it was trained on.

    Attributes
    ----------
    examples
        Those whose words the corpus contains.
    drawn
        The negatives that were drawn, of all hands.
    counts
        The counts of positives, negatives and drawn pairs, in this order.
    held_out
        Scores of the positives by models that were not trained on them; those of the model itself if there is one.
    """

    model: LinearModel
    label: str
    examples: Examples
    drawn: tuple[Pair, ...]
    seed: int
    unknown: tuple[str, ...] = ()  # words of the examples that the corpus does not contain
    counts: PairCounts | None = field(default=None, repr=False, compare=False)
    held_out: Floats | None = field(default=None, repr=False, compare=False)

    @property
    def notes(self) -> list[str]:
        """What a reader must know of the training pairs, one sentence each."""
        positives, negatives = len(self.examples.positives), len(self.examples.negatives)
        given = many(positives, "example") + ("" if self.label == UNNAMED else f" of {self.label}")
        if negatives:
            given += f" and {negatives:,} of other pairs"
        notes = [f"trained on {given}, and {many(len(self.drawn), 'other pair')} drawn from the corpus"]
        if self.unknown:
            shown = ", ".join(self.unknown[:5]) + (" …" if len(self.unknown) > 5 else "")
            notes.append(f"words of the examples that the corpus does not contain: {shown}")
        return notes


def train_on_examples(
    corpus: ContextSource, examples: Examples, *, drawn: Sequence[Pair] | None = None, seed: int = 0,
    preset: str | Preset = "modern", C: float | None = None, b: int = 1500,
    basis: Basis | None = None, settings: CountSettings | None = None,
) -> Trained:  # fmt: skip
    """Train a model that separates the pairs of a relation from all other pairs.

    Parameters
    ----------
    drawn
        Pairs that were drawn before, which are used again: a retrained model is compared with the last one on the same
        negatives. Those that are examples by now are dropped.
    preset
        How counts become features; `modern` is the variant for few examples, with v12 counted twice.
    """
    source = as_source(corpus)
    settings = settings or CountSettings()
    preset = FEW_EXAMPLES if preset == FEW_EXAMPLES.name else get_preset(preset)
    examples, unknown = usable(source, examples)
    number = number_to_draw(len(examples.positives))
    if drawn is None:
        parallel.progress()("negatives", 0, 0)
        drawn = draw_negatives(source, examples, HANDS * number, seed=seed, between=settings.windows.between)
    own, given = set(examples.pairs), set(map(frozenset, examples.pairs))
    reversed_ = {pair[::-1] for pair in examples.positives} - own if not examples.is_symmetric else set()
    drawn = [
        pair for pair in drawn if pair in reversed_ or (pair not in own and frozenset(pair) not in given)
    ]
    if not drawn and not examples.negatives:
        raise InputError(
            "there are no negative examples, and none could be drawn from the corpus: no two words of it co-occur; "
            "add pairs with the label no"
        )
    pairs = [*examples.positives, *examples.negatives, *drawn]
    counts = count_cached(source, pairs, basis or source.pick_basis(b), settings)
    parallel.progress()("model", 0, 0)
    svm = SvmSettings(preset.C if C is None else C)
    model, held_out = _average(
        counts, len(examples.positives), _deal(drawn, len(examples.pairs), reversed_, number), examples.label,
        preset, svm,
    )  # fmt: skip
    model = replace(
        model, trained=np.unique(pair_hashes(counts[: len(examples.pairs)]))
    )  # drawn may be found
    return Trained(model, examples.label, examples, tuple(drawn), seed, unknown, counts, held_out)


def _deal(drawn: Sequence[Pair], given: int, in_all: set[Pair], number: int) -> list[NDArray[np.intp]]:
    """Rows of each hand: all examples, the reversed ones, and its share of the other drawn pairs."""
    shared = [k for k, pair in enumerate(drawn) if pair in in_all]
    others = [k for k, pair in enumerate(drawn) if pair not in in_all]
    hands = max(1, min(HANDS, round(len(others) / max(number - len(shared), 1))))
    first = list(range(given))
    return [
        np.array([*first, *(given + k for k in sorted([*shared, *others[hand::hands]]))], np.intp)
        for hand in range(hands)
    ]


def _average(
    counts: PairCounts, positives: int, hands: Sequence[NDArray[np.intp]], label: str, preset: Preset,
    svm: SvmSettings,
) -> tuple[LinearModel, Floats]:  # fmt: skip
    """The mean of one model per hand, and of their held-out scores of the positives."""
    grams = shared_grams(counts, [CONDITION], preset, svm)
    models, scores, coef = [], [], np.zeros((len(counts), 1))
    for rows in hands:
        own = counts[rows]
        targets = encode_targets([label if row < positives else _no(label) for row in rows.tolist()])
        part = None if grams is None else {CONDITION: grams[CONDITION][np.ix_(rows, rows)]}
        model = fit_counts(own, targets, CONDITION, preset, svm, grams=part, keep_training=True)
        assert model.training is not None
        coef[rows] += model.training.coef / len(hands)
        output, sign = model.output_of(label)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            held_out = hold_out(own, targets, CONDITION, preset, svm, grams=part) if positives > 1 else None
        decisions = model.decisions(own[:positives]) if held_out is None else held_out.decisions[:positives]
        models.append(model)
        scores.append(sign * decisions[:, output])
    mean = {block: np.mean([model.weights[block] for model in models], axis=0) for block in models[0].weights}
    intercept = np.mean([model.intercept for model in models], axis=0)
    # The dual coefficients of the mean are the mean ones: explanations name the training pairs of all hands.
    kept = TrainingPairs.of(preset.features({}, counts, CONDITION), coef, counts.pairs)
    averaged = replace(models[0], weights=mean, intercept=intercept, kept=kept)
    return averaged, np.mean(scores, axis=0)


def _no(label: str) -> str:
    return NO if label != NO else f"not {NO}"


def usable(source: ContextSource, examples: Examples) -> tuple[Examples, tuple[str, ...]]:
    """The examples without pairs of a word that the corpus does not contain, and these words."""
    target = targets_of(source, examples.pairs)
    unknown = tuple(word for word in target if target[word] is None)
    where = examples.path or "the examples"
    if not examples.positives:
        raise InputError(f"{where} has no positive example; add pairs of the relation")

    def known(pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
        return tuple((w1, w2) for w1, w2 in pairs if target[w1] is not None and target[w2] is not None)

    kept = replace(examples, positives=known(examples.positives), negatives=known(examples.negatives))
    if not kept.positives:
        shown = ", ".join(unknown[:5])
        raise InputError(
            f"{where} has no example whose two words the corpus contains (it lacks {shown}); check the corpus's "
            f"language and level, or give other examples"
        )
    return kept, unknown
