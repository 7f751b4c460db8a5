"""How well two words fit the places of a relation, judged by the words that its examples have there.

Pairs in one relation have similar words in the first place, and similar words in the second (paradigmatic similarity).
With the cosine of the corpus's word vectors:

    fit of a word   = mean cosine with the three nearest example words of its place
    slot(a, b)      = the smaller of the two fits
    pair(a, b)      = mean of the three largest min(cos(a, a_i), cos(b, b_i)) over examples (a_i, b_i)
    score           = z(model) + weight · ½ (z(slot) + z(pair)),       z over the candidates

A word that was rejected in a place lowers the fit of its neighbours as far as it is nearer than the accepted ones. The
weight is chosen by the examples themselves: each is held out, and the weight with the best mean logarithm of its rank
among the candidates wins. 0 means that the kinds of words do not matter (opposites can be of any kind).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.targets import ContextSource, Target
from bagpack.find.options import FindOptions
from bagpack.find.training import Trained
from bagpack.find.vocabulary import corpus_of, targets_of
from bagpack.vectors.word_classes import class_numbers
from bagpack.vectors.words import WordVectors

Floats = NDArray[np.float64]
F32 = NDArray[np.float32]
I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

NEIGHBOURS = 3
WEIGHTS = (0.0, 0.5, 1.0, 2.0)
AGAINST = 0.05  # loss in the mean logarithm (base 10) of the rank from which on the slots are not used
GIVEN_WEIGHT = 1.0  # where a word is given, whose candidates examples cannot be compared with
AT_ONCE = 1 << 24  # cosines
MOST_LEFT_OUT = 30  # examples that are held out to choose the weight
SHARE = 0.25  # of the examples that must have a part of speech in a place


@dataclass(frozen=True, eq=False)
class Places:
    """What the examples say about the words in each place.

    Attributes
    ----------
    positives, rejected
        The words of the examples; those that occur in a place only in pairs that are not in the relation.
    held_out
        The score of each positive by a model that was not trained on it.
    kinds
        Parts of speech in each place; none for any.
    """

    vectors: WordVectors
    positives: list[tuple[Target, Target]]
    rejected: tuple[list[Target], list[Target]]
    held_out: Floats
    kinds: tuple[frozenset[int], frozenset[int]]
    given: tuple[bool, bool]

    @classmethod
    def of(cls, source: ContextSource, trained: Trained, asked: FindOptions) -> Places:
        """The places of the relation that was trained."""
        target = {word: own for word, own in targets_of(source, trained.examples.pairs).items() if own}
        yes = [(target[a], target[b]) for a, b in trained.examples.positives]
        vectors = WordVectors.of(corpus_of(source))
        rejected, kinds = [], []
        for place, pos in enumerate((asked.pos1, asked.pos2)):
            words = [pair[place] for pair in yes]
            no = dict.fromkeys(target[pair[place]] for pair in trained.examples.negatives)
            rejected.append([word for word in no if word not in words])
            if asked.fixed[place]:
                kinds.append(frozenset[int]())
            elif pos is not None:
                kinds.append(class_numbers(pos, f"--pos{place + 1}"))
            else:
                kinds.append(kinds_of(vectors.class_of(words)))
        assert trained.held_out is not None
        return cls(
            vectors, yes, (rejected[0], rejected[1]), trained.held_out, (kinds[0], kinds[1]), asked.fixed
        )

    def slots(self, targets: Sequence[Target]) -> Slots:
        """How these words fit; the positives' own words are after them."""
        rows = self.vectors.vectors([*targets, *(word for pair in self.positives for word in pair)])
        examples = rows[len(targets) :].reshape(len(self.positives), 2, -1)
        yes, no = (
            tuple(rows @ own.T for own in sides)
            for sides in (
                (examples[:, 0], examples[:, 1]),
                [self.vectors.vectors(words) if words else rows[:0] for words in self.rejected],
            )
        )
        return Slots((yes[0], yes[1]), (no[0], no[1]), self.given if not all(self.given) else (False, False))

    def of_kind(self, targets: Sequence[Target]) -> tuple[Bools, Bools]:
        """Which words have the parts of speech of each place; a word of unknown kind has."""
        classes = self.vectors.class_of(targets)
        first, second = (np.isin(classes, [0, *own]) | (not own) for own in self.kinds)
        return first, second


@dataclass(frozen=True, eq=False)
class Slots:
    """Cosines of words with the example words of each place.

    Attributes
    ----------
    yes
        For each place, an array words × examples in the relation.
    no
        The same for words that occur in the place only in examples that are not in the relation.
    given
        Whether the search is for partners of one word, which is in this place: its own fit says nothing about them.
    """

    yes: tuple[F32, F32]
    no: tuple[F32, F32]
    given: tuple[bool, bool] = (False, False)

    def fits(self, place: int, without: int | None = None) -> Floats:
        """The fit of each word; ``without`` is an example that is held out."""
        yes = self.yes[place] if without is None else np.delete(self.yes[place], without, axis=1)
        fit = _nearest(yes)
        if self.no[place].shape[1]:
            fit = fit - np.maximum(_nearest(self.no[place]) - fit, 0)
        return fit

    def slot(self, first: I64, second: I64, without: int | None = None) -> Floats:
        """The smaller fit of each pair of words; where a word is given, that of the other one."""
        sides = [(place, words) for place, words in enumerate((first, second)) if not self.given[place]]
        return np.asarray(np.minimum.reduce([self.fits(place, without)[words] for place, words in sides]))

    def pair(self, first: I64, second: I64, without: int | None = None) -> Floats:
        """The similarity of each pair of words to the nearest examples as pairs."""
        one, two = (own if without is None else np.delete(own, without, axis=1) for own in self.yes)
        out = np.empty(len(first))
        step = max(1, AT_ONCE // max(one.shape[1], 1))
        for start in range(0, len(first), step):
            part = slice(start, start + step)
            out[part] = _nearest(np.minimum(one[first[part]], two[second[part]]))
        return out


def _nearest(cosines: F32) -> Floats:
    """Per row, the mean of the largest values."""
    k = min(NEIGHBOURS, cosines.shape[1])
    if not k:
        return np.zeros(cosines.shape[0])
    return np.asarray(np.partition(cosines, cosines.shape[1] - k, axis=1)[:, -k:].mean(axis=1), np.float64)


def slot_scores(
    slots: Slots, first: I64, second: I64, model: Floats, examples: Sequence[tuple[int, int]], held_out: Floats,
    of_kind: Bools,
) -> tuple[Floats, float]:  # fmt: skip
    """The value of each candidate, given by its words' numbers, and the weight of the words' fit in it.

    Parameters
    ----------
    model, held_out
        The model's score of each candidate, and of each example by a model that was not trained on it.
    examples
        The two words of each example, as numbers.
    of_kind
        Which candidates have the parts of speech of the examples; ranks are among these.
    """
    slot, pair = slots.slot(first, second), slots.pair(first, second)
    moments = [(values.mean(), values.std() or 1.0) for values in (slot, pair, model)]

    def z(values: Floats, which: int) -> Floats:
        mean, spread = moments[which]
        return np.asarray((values - mean) / spread)

    weight = 0.0
    if any(slots.given):
        weight = GIVEN_WEIGHT
    elif len(examples) > 1 and of_kind.any():
        rivals = np.flatnonzero(of_kind)
        one, two = first[rivals], second[rivals]
        base, own_base = z(model[rivals], 2), z(held_out, 2)
        chosen = np.unique(np.linspace(0, len(examples) - 1, min(len(examples), MOST_LEFT_OUT)).astype(int))
        gain = np.zeros(len(WEIGHTS))
        for k in chosen.tolist():
            a, b = (np.array([word]) for word in examples[k])
            fit = z(slots.slot(one, two, k), 0) + z(slots.pair(one, two, k), 1)
            own = (z(slots.slot(a, b, k), 0) + z(slots.pair(a, b, k), 1))[0]
            for number, w in enumerate(WEIGHTS):
                ahead = base + w / 2 * fit > own_base[k] + w / 2 * own
                gain[number] -= np.log10(1 + np.count_nonzero(ahead)) / len(chosen)
        best = 1 + int(gain[1:].argmax())
        weight = WEIGHTS[best] if gain[best] > gain[0] - AGAINST else 0.0
    return z(model, 2) + weight / 2 * (z(slot, 0) + z(pair, 1)), weight


def kinds_of(classes: NDArray[np.uint8]) -> frozenset[int]:
    """The parts of speech that at least a quarter of the examples have in a place; none if one of them is unknown."""
    numbers, counts = np.unique(classes, return_counts=True)
    if 0 in numbers:
        return frozenset()
    return frozenset(numbers[counts >= SHARE * len(classes)].tolist())
