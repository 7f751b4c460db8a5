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

Where one word is given, words with similar contexts have similar partners: a ridge regression predicts from the vector
x of the given word which partners of the examples it has, and 2 · recurring · z(partner) is added to the score:

    partner(x, b)   = Σ over examples i with the partner b of  x' (X'X + 10 I)^-1 x_i
    recurring       = the share of the examples whose partner is that of another one too
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bagpack.arrays import F32, I64, U8, Bools, Floats
from bagpack.contexts.targets import ContextSource, Target
from bagpack.corpus.words import class_names, class_numbers
from bagpack.find.options import FindOptions
from bagpack.find.training import Trained
from bagpack.find.vocabulary import corpus_of, targets_of
from bagpack.vectors.words import WordVectors

NEIGHBOURS = 3
WEIGHTS = (0.0, 0.5, 1.0, 2.0)
AGAINST = 0.05  # loss in the mean logarithm (base 10) of the rank from which on the slots are not used
ONE_WEIGHT = 1.0  # where a word is given, or there is one example: no example can be held out
PARTNERS, PENALTY = 2.0, 10.0  # chosen on development queries: docs/finding.md
AT_ONCE = 1 << 24  # cosines
MOST_LEFT_OUT = 30  # examples that are held out to choose the weight
SHARE = 0.25  # of the examples that must have a part of speech in a place


@dataclass(frozen=True, eq=False)
class Places:
    """What the examples of a trained relation say about the words in each place."""

    trained: Trained
    vectors: WordVectors
    positives: list[tuple[Target, Target]]
    rejected: tuple[list[Target], list[Target]]  # words that a place has only in pairs that were rejected
    kinds: tuple[frozenset[int], frozenset[int]]  # parts of speech; none for any
    given: tuple[bool, bool]  # which place has a fixed word, whose own fit says nothing

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
        given = asked.fixed if not all(asked.fixed) else (False, False)
        return cls(trained, vectors, yes, (rejected[0], rejected[1]), (kinds[0], kinds[1]), given)

    @property
    def kind_names(self) -> tuple[str, str]:
        """The parts of speech in each place, in words; empty for any."""
        return class_names(self.kinds[0]), class_names(self.kinds[1])

    def slots(self, targets: Sequence[Target]) -> Slots:
        """How these words fit; the positives' own words are after them."""
        rows = self.vectors.vectors([*targets, *(word for pair in self.positives for word in pair)])
        examples = rows[len(targets) :].reshape(len(self.positives), 2, -1)
        no = [rows @ self.vectors.vectors(words).T if words else rows[:, :0] for words in self.rejected]
        return Slots((rows @ examples[:, 0].T, rows @ examples[:, 1].T), (no[0], no[1]), self.given)

    def of_kind(self, targets: Sequence[Target]) -> tuple[Bools, Bools]:
        """Which words have the parts of speech of each place; a word of unknown kind has."""
        classes = self.vectors.class_of(targets)
        first, second = (np.isin(classes, [0, *own]) | (not own) for own in self.kinds)
        return first, second

    def rank(self, targets: Sequence[Target], rows: I64, model: Floats) -> tuple[Floats, Bools, float]:
        """The value of each pair of words, whether the words are of the right kinds, and the weight of their fit.

        ``rows`` has the numbers of the two words of each pair, ``model`` its score by the model.
        """
        first, second = rows.T
        first_kind, second_kind = self.of_kind(targets)
        of_kind = first_kind[first] & second_kind[second]
        slots = self.slots(targets)
        slot, pair = slots.slot(first, second), slots.pair(first, second)
        z_model, z_slot, z_pair = (_standard(values) for values in (model, slot, pair))

        def fit(first: I64, second: I64, without: int | None = None) -> Floats:
            return z_slot(slots.slot(first, second, without)) + z_pair(slots.pair(first, second, without))

        weight = 0.0
        if any(self.given) or len(self.positives) == 1:
            weight = ONE_WEIGHT
        elif of_kind.any():
            rivals = np.flatnonzero(of_kind)
            base, held_out = z_model(model[rivals]), z_model(self.trained.held_out)
            number = len(self.positives)
            chosen = np.unique(np.linspace(0, number - 1, min(number, MOST_LEFT_OUT)).astype(int))
            gain = np.zeros(len(WEIGHTS))
            for k in chosen.tolist():
                own = np.array([len(targets) + 2 * k])  # the words of the example
                others, mine = fit(first[rivals], second[rivals], k), fit(own, own + 1, k)
                for at, w in enumerate(WEIGHTS):
                    ahead = base + w / 2 * others > held_out[k] + w / 2 * mine
                    gain[at] -= np.log10(1 + np.count_nonzero(ahead)) / len(chosen)
            best = 1 + int(gain[1:].argmax())
            weight = WEIGHTS[best] if gain[best] > gain[0] - AGAINST else 0.0
        values = z_model(model) + weight / 2 * (z_slot(slot) + z_pair(pair))
        if any(self.given):
            place = self.given.index(True)
            values += self._partners(targets, targets[rows[0, place]], place)[rows[:, 1 - place]]
        return values, of_kind, weight

    def _partners(self, targets: Sequence[Target], word: Target, place: int) -> Floats:
        """How strongly the examples predict each word as a partner of a given one; see above."""
        examples = [(pair[place], pair[1 - place]) for pair in self.positives if pair[place] != word]
        often = Counter(partner for _, partner in examples)
        recurring = sum(often[partner] > 1 for _, partner in examples)
        if not recurring:
            return np.zeros(len(targets))
        rows = self.vectors.vectors([own for own, _ in examples]).astype(np.float64)
        penalty = PENALTY * np.eye(rows.shape[1])
        votes = rows @ np.linalg.solve(rows.T @ rows + penalty, self.vectors.vectors([word])[0])
        total = dict.fromkeys(often, 0.0)
        for (_, partner), vote in zip(examples, votes.tolist(), strict=True):
            total[partner] += vote
        values = np.array([total.get(target, 0.0) for target in targets])
        return PARTNERS * recurring / len(examples) * _standard(values)(values)


@dataclass(frozen=True, eq=False)
class Slots:
    """Cosines of words with the example words of each place."""

    yes: tuple[F32, F32]  # words × examples in the relation
    no: tuple[F32, F32]  # words × rejected words
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


def _standard(values: Floats) -> Callable[[Floats], Floats]:
    """What standardises values by the mean and the spread of these."""
    mean, spread = values.mean(), values.std() or 1.0
    return lambda own: np.asarray((own - mean) / spread)


def _nearest(cosines: F32) -> Floats:
    """Per row, the mean of the largest values."""
    k = min(NEIGHBOURS, cosines.shape[1])
    if not k:
        return np.zeros(cosines.shape[0])
    return np.asarray(np.partition(cosines, cosines.shape[1] - k, axis=1)[:, -k:].mean(axis=1), np.float64)


def kinds_of(classes: U8) -> frozenset[int]:
    """The parts of speech that at least a quarter of the examples have in a place; none if one of them is unknown."""
    numbers, counts = np.unique(classes, return_counts=True)
    if 0 in numbers:
        return frozenset()
    return frozenset(numbers[counts >= SHARE * len(classes)].tolist())
