"""A model from examples of one relation: the pairs of the relation against all other pairs.

The negatives are drawn from the corpus, in several hands: one model is trained with each, and their weights are
averaged, which for linear models is the mean of their scores. One hand alone makes results depend on the draw.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bagpack import parallel
from bagpack.arrays import Floats, Index
from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.errors import InputError
from bagpack.find.examples import NO, UNNAMED, Examples, Pair
from bagpack.find.negatives import draw_negatives, number_to_draw
from bagpack.find.vocabulary import few, targets_of
from bagpack.learn.features import Preset
from bagpack.learn.fitting import fit_counts, hold_out, shared_grams
from bagpack.learn.model import LinearModel, TrainingPairs, pair_hashes
from bagpack.learn.svm import SvmSettings
from bagpack.learn.targets import encode_targets
from bagpack.numbers import many
from bagpack.sources import as_source
from bagpack.vectors.counts import PairCounts, count_cached

# With a few examples, the contexts of the two words together say more than those of each: docs/finding.md.
FEW_EXAMPLES = Preset("modern", v12=2.0)
HANDS = 5
CONDITION = "v1v2v12"


@dataclass(frozen=True)
class Trained:
    """A model of one relation, and what it was trained on."""

    model: LinearModel
    label: str
    examples: Examples  # those whose words the corpus contains
    drawn: tuple[Pair, ...]  # the negatives of all hands
    seed: int
    unknown: tuple[str, ...]  # words of the examples that the corpus does not contain
    # Counts of the positives, the negatives and the drawn pairs, in this order.
    counts: PairCounts = field(repr=False, compare=False)
    # Scores of the positives by models that were not trained on them; if there is one, by the model itself.
    held_out: Floats = field(repr=False, compare=False)

    @property
    def notes(self) -> list[str]:
        """What a reader must know of the training pairs, one sentence each."""
        positives, negatives = len(self.examples.positives), len(self.examples.negatives)
        given = many(positives, "example") + ("" if self.label == UNNAMED else f" of {self.label}")
        if negatives:
            given += f" and {negatives:,} of other pairs"
        notes = [f"trained on {given}, and {many(len(self.drawn), 'other pair')} drawn from the corpus"]
        if self.unknown:
            notes.append(f"words of the examples that the corpus does not contain: {few(self.unknown)}")
        return notes


def train_on_examples(
    corpus: ContextSource, examples: Examples, *, seed: int = 0, b: int = 1500, again: Trained | None = None
) -> Trained:
    """Train a model that separates the pairs of a relation from all other pairs.

    The negatives are those that were drawn before (``again``), without those that are examples by now: a retrained
    model is compared with the last one on the same negatives.
    """
    source = as_source(corpus)
    settings = CountSettings()
    examples, unknown = usable(source, examples)
    per_hand = number_to_draw(len(examples.positives))
    given = set(examples.pairs)
    turned = [] if examples.is_symmetric else [p[::-1] for p in examples.positives if p[::-1] not in given]
    others: Sequence[Pair]
    if again is not None:
        others, seed, basis = again.drawn, again.seed, again.model.basis
    else:
        parallel.progress()("negatives", 0, 0)
        basis, number = source.pick_basis(b), HANDS * per_hand - len(turned)
        others = draw_negatives(source, examples, number, seed=seed, between=settings.windows.between)
    known = set(map(frozenset, given))
    drawn = [*turned, *(pair for pair in others if frozenset(pair) not in known)]
    if not drawn and not examples.negatives:
        raise InputError(
            "there are no negative examples, and none could be drawn from the corpus: no two words of it co-occur; "
            "add pairs with the label no"
        )
    pairs = [*examples.positives, *examples.negatives, *drawn]
    counts = count_cached(source, pairs, basis, settings)
    parallel.progress()("model", 0, 0)
    hands = _deal(len(drawn), len(examples.pairs), len(turned), per_hand)
    model, held_out = _average(counts, len(examples.positives), hands, examples.label)
    own = np.unique(pair_hashes(counts[: len(examples.pairs)]))  # pairs that were drawn may be found
    model = replace(model, trained=own)
    return Trained(model, examples.label, examples, tuple(drawn), seed, unknown, counts, held_out)


def _deal(drawn: int, given: int, turned: int, per_hand: int) -> list[Index]:
    """Rows of each hand: all examples, the reversed ones after them, and its share of the other drawn pairs."""
    hands = max(1, min(HANDS, round((drawn - turned) / max(per_hand - turned, 1))))
    shared, others = np.arange(given + turned), np.arange(given + turned, given + drawn)
    return [np.concatenate([shared, others[hand::hands]]) for hand in range(hands)]


def _average(
    counts: PairCounts, positives: int, hands: Sequence[Index], label: str
) -> tuple[LinearModel, Floats]:
    """The mean of one model per hand, and of their held-out scores of the positives."""
    preset, svm, other = FEW_EXAMPLES, SvmSettings(), NO if label != NO else f"not {NO}"
    models, scores, coef = [], [], np.zeros((len(counts), 1))
    for rows in hands:
        own = counts[rows]
        targets = encode_targets([label if row < positives else other for row in rows.tolist()])
        gram = shared_grams(own, [CONDITION], preset).get(CONDITION)
        model = fit_counts(own, targets, CONDITION, preset, svm, gram=gram)
        coef[rows] += model.training.coef / len(hands)
        output, sign = model.output_of(label)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            held_out = hold_out(own, targets, CONDITION, preset, svm, gram=gram) if positives > 1 else None
        decisions = model.decisions(own[:positives]) if held_out is None else held_out.decisions[:positives]
        models.append(model)
        scores.append(sign * decisions[:, output])
    mean = {block: np.mean([model.weights[block] for model in models], axis=0) for block in models[0].weights}
    intercept = np.mean([model.intercept for model in models], axis=0)
    # The dual coefficients of the mean are the mean ones: explanations name the training pairs of all hands.
    kept = TrainingPairs.of(preset.features({}, counts, CONDITION), coef, counts.pairs)
    averaged = replace(models[0], weights=mean, intercept=intercept, kept=kept)
    return averaged, np.mean(scores, axis=0)


def usable(source: ContextSource, examples: Examples) -> tuple[Examples, tuple[str, ...]]:
    """The examples without pairs of a word that the corpus does not contain, and these words."""
    where = examples.path or "the examples"
    if not examples.positives:
        raise InputError(f"{where} has no positive example; add pairs of the relation")
    unknown = tuple(word for word, target in targets_of(source, examples.pairs).items() if target is None)
    positives, negatives = (
        tuple(pair for pair in pairs if not set(pair) & set(unknown))
        for pairs in (examples.positives, examples.negatives)
    )
    if not positives:
        raise InputError(
            f"{where}: the corpus does not contain both words of any example (it lacks {few(unknown)}); check its "
            f"language and level, or give other examples"
        )
    return replace(examples, positives=positives, negatives=negatives), unknown
