"""A decision in three parts (first word, second word, both together), by training words and pairs, and by features.

The value of an SVM is a sum over its training pairs as well as over its features (`learn.model.TrainingPairs` has the
formula). Both sums are exact: the first says which training words and pairs a pair is like, the second which contexts
were counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.targets import ContextSource
from bagpack.corpus.words import is_content_word
from bagpack.explain.lines import PairEvidence
from bagpack.explain.reasons import CONTEXT, FeaturePart, Group, Like, Reason, ReasonWriter, group_features
from bagpack.learn.features import evidence
from bagpack.learn.model import LinearModel
from bagpack.names import COSINE, PRODUCT, SEGMENTS, STATISTICS, over_terms
from bagpack.vectors.counts import PairCounts
from bagpack.wording import say_times

Floats = NDArray[np.float64]
Sums = dict[str, float]

ALIKE, AGAINST = 6, 2  # training words or pairs that a part names
SHOWN = 0.005  # what a training word or pair adds at least, to be named: less is shown as 0.00
SHARED_BY = 3  # training pairs that a context names
LEAST = 0.05  # of what the strongest context adds; those that add less are not listed
MAINLY = 2.0  # one part decides mainly if it adds this many times as much as the other
FIRST, SECOND, TOGETHER = "first", "second", "together"
BLOCK_OF = {TOGETHER: "v12", FIRST: "v1", SECOND: "v2"}  # in the order in which they are shown


@dataclass(frozen=True)
class Part:
    """A part of a decision value: what the pair's first word, its second or the two together add.

    value = Σ alike + Σ against + rest + Σ extra.

    Attributes
    ----------
    alike, against
        The training words (of a pair that is like the two together: training pairs) that add most, and least.
    others, rest
        How many other training words or pairs there are, and what they add.
    extra
        What is no training word's or pair's, by its description: contexts in common, how often together.
    """

    name: str
    value: float
    alike: tuple[Like, ...]
    against: tuple[Like, ...]
    others: int
    rest: float
    extra: Sums


@dataclass(frozen=True)
class Decision:
    """One label's decision value as a sum, or the difference of two labels' (`against` names the second).

    value = base + Σ parts = bias + Σ blocks = bias + Σ reasons + rest.

    Attributes
    ----------
    probability
        Calibrated; None where the model has no calibration or predicts ratings, and for a difference.
    bar
        Length of the label's bar, 0 to 1: its probability, or where its decision value is between the labels' lowest
        and highest.
    summary
        Which part decides, as a sentence.
    base, parts
        What the mean training pair has, and the three parts; no parts for a model that kept no training pairs.
    contexts
        Contexts of the two words together, each with lines and the training pairs that share it: content words before
        function words, those that speak for the label first.
    bias, blocks, reasons, rest, others
        The sum over features: the decision value of a pair without any observation, what the features of each block
        add, the strongest groups of features, and what the others add and how many there are.
    """

    label: str
    against: str | None
    probability: float | None
    bar: float
    value: float
    summary: str
    base: float
    parts: tuple[Part, ...]
    contexts: tuple[Reason, ...]
    bias: float
    blocks: Sums
    reasons: tuple[Reason, ...]
    rest: float
    others: int

    @property
    def features(self) -> tuple[FeaturePart, ...]:
        """The features of all reasons that are listed, by absolute value."""
        every = [feature for reason in self.reasons for feature in reason.features]
        return tuple(sorted(every, key=lambda feature: -abs(feature.value)))


@dataclass(frozen=True)
class ObservedFeatures:
    """The features of one pair that are not zero, weighted once for all labels; names are made where they are shown."""

    places: list[str]  # v1:pre, v1:post, v2:pre …
    place: NDArray[np.int64]  # each feature's, by number
    term: NDArray[np.int64]  # among the terms of its block; -1 where the feature is not of a term
    column: NDArray[np.int64]  # of its block
    counts: NDArray[np.int64]
    parts: Floats  # features × outputs: value × weight
    rows: dict[str, Floats]  # all values of each block

    @classmethod
    def of(cls, model: LinearModel, one: PairCounts) -> ObservedFeatures:
        """Those of a single pair."""
        places: list[str] = []
        parts: list[tuple[Any, ...]] = []
        rows = {}
        for block, columns, values in model.observed(one):
            segments, weights = SEGMENTS[block], model.weights[block]
            # A block that is not over terms has each column as a place of its own.
            terms = len(weights) // len(segments)
            place = len(places) + columns // terms
            term = columns % terms if over_terms(block) else np.full(len(columns), -1)
            own = weights[columns] * values[:, None]
            parts.append((place, term, columns, evidence(one, block, columns), own))
            places += [f"{block}:{segment}" for segment in segments]
            rows[block] = np.zeros(len(weights))
            rows[block][columns] = values
        joined: list[Any] = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return cls(places, *[*joined, rows])


class PairDecisions:
    """The decisions about one pair. A label's numbers are those of the model's outputs times a column of `mix`."""

    def __init__(
        self, model: LinearModel, source: ContextSource, matrix: PairCounts, top: int, lines: int
    ) -> None:
        self.model, self.matrix, self.source, self.top, self.lines = model, matrix, source, top, lines
        self.observed = observed = ObservedFeatures.of(model, matrix)
        # Two labels share one output, which is positive for the second.
        self.mix: Floats = model.scores_of(np.eye(len(model.intercept)))
        decisions = model.decisions(matrix)
        self.scores: Floats = (decisions @ self.mix)[0]
        self.answered = bool(model.answered(matrix, decisions)[0])
        self.probabilities: Floats | None = None
        if model.calibration is not None and model.kind != "rating":
            self.probabilities = model.probabilities(decisions)[0]
        self.groups = group_features(
            observed.places, observed.place, observed.term, observed.counts, model.terms
        )
        first, second = (matrix.targets[name] for name in matrix.rows[0])
        cited = None
        if lines and first is not None and second is not None:
            cited = PairEvidence(source, first, second, matrix.settings)
        self.writer = ReasonWriter(matrix, cited)
        chosen = int(np.argmax(self.scores))
        self.answer = f"{self.scores[0]:.3f}" if model.kind == "rating" else str(model.classes[chosen])
        likely = self.scores if self.probabilities is None else self.probabilities
        labels = range(len(self.scores))
        self.order = sorted(labels, key=lambda k: (k != chosen, -likely[k], -self.scores[k]))

    def decision(self, k: int, label: str, explained: bool) -> Decision:
        """A label's decision; with parts and reasons if it is explained."""
        probability = None if self.probabilities is None else float(self.probabilities[k])
        low, high = self.scores.min(), self.scores.max()
        bar = float((self.scores[k] - low) / (high - low)) if high > low else 1.0
        return self._decision(
            self.mix[:, k], label, None, probability, bar if probability is None else probability, explained
        )

    def difference(self, k: int, other: int) -> Decision:
        """The reasons for one label and against another."""
        names = [str(self.model.classes[label]) for label in (k, other)]
        return self._decision(self.mix[:, k] - self.mix[:, other], names[0], names[1], None, 1.0, True)

    def _decision(
        self, mix: Floats, label: str, against: str | None, probability: float | None, bar: float, explained: bool
    ) -> Decision:  # fmt: skip
        observed = self.observed
        values = observed.parts @ mix
        bias = float(self.model.intercept @ mix)
        value = bias + float(values.sum())
        blocks: Sums = {}
        by_place = np.bincount(observed.place, values, len(observed.places)).tolist()
        for place, share in zip(observed.places, by_place, strict=True):
            block = place.partition(":")[0]
            blocks[block] = blocks.get(block, 0.0) + share
        sums = np.array([values[list(group.members)].sum() for group in self.groups])
        strongest = np.argsort(-np.abs(sums), kind="stable")
        strongest = strongest[sums[strongest] != 0]
        listed = strongest[: self.top] if explained else strongest[:0]
        reasons = [self._reason(self.groups[number], values) for number in listed.tolist()]
        parts = self._parts(mix) if explained else ()
        rest = value - bias - sum(reason.value for reason in reasons)
        return Decision(
            label, against, probability, bar, value, self._summary(parts), value - sum(part.value for part in parts),
            parts, self._contexts(sums, values, mix) if explained else (), bias, blocks, tuple(reasons), rest,
            len(strongest) - len(reasons),
        )  # fmt: skip

    # Training words and pairs --------------------------------------------------------------------------------------

    @cached_property
    def _likeness(self) -> dict[str, Floats]:
        """How much the pair is like each training word or pair, by block."""
        training = self.model.training
        assert training is not None
        return {block: training.likeness(block, self.observed.rows[block]) for block in training.rows}

    @cached_property
    def _coefficients(self) -> dict[str, Floats]:
        training = self.model.training
        assert training is not None
        return {block: training.coefficients(block) for block in training.rows}

    def _parts(self, mix: Floats) -> tuple[Part, ...]:
        """The three parts, of the blocks that the model has."""
        training = self.model.training
        if training is None:
            return ()
        net = {
            block: float((row - training.means[block]) @ self.model.weights[block] @ mix)
            for block, row in self.observed.rows.items()
        }
        w1, w2 = self.matrix.pairs[0]
        shared = (net.get(PRODUCT, 0.0) + net.get(COSINE, 0.0)) / 2
        extra: dict[str, Sums] = {FIRST: {}, SECOND: {}, TOGETHER: {}}
        if PRODUCT in net:  # of both words, so each has half of it
            extra[FIRST][f"contexts in common with {w2}"] = shared
            extra[SECOND][f"contexts in common with {w1}"] = shared
        if STATISTICS in net:
            together = int(self.matrix.seen[0])
            seen = f"seen together {say_times(together)}" if together else "never seen together"
            extra[TOGETHER][seen] = net[STATISTICS]
        return tuple(
            self._part(name, net[block], mix, extra[name]) for name, block in BLOCK_OF.items() if block in net
        )

    def _part(self, name: str, net: float, mix: Floats, extra: Sums) -> Part:
        training = self.model.training
        assert training is not None
        block = BLOCK_OF[name]
        shares = self._likeness[block] * (self._coefficients[block] @ mix)
        order = np.argsort(-shares, kind="stable")
        order = order[shares[order] != 0]
        alike = [i for i in order[:ALIKE].tolist() if shares[i] >= SHOWN]
        against = [i for i in order[::-1][:AGAINST].tolist() if shares[i] <= -SHOWN]
        named = training.pair_name if block == "v12" else training.names.__getitem__
        rest = net - float(shares[[*alike, *against]].sum())
        return Part(
            name, net + sum(extra.values()), tuple(Like(named(i), float(shares[i])) for i in alike),
            tuple(Like(named(i), float(shares[i])) for i in against), len(order) - len(alike) - len(against), rest,
            extra,
        )  # fmt: skip

    def _summary(self, parts: Sequence[Part]) -> str:
        """Which part decides, as a sentence."""
        value = {part.name: part.value for part in parts}
        if not value or self.model.kind == "rating":
            return ""
        w1, w2 = self.matrix.pairs[0]
        one, two, together = (value.get(name, 0.0) for name in (FIRST, SECOND, TOGETHER))
        words = one + two
        if words + together <= 0:
            return "nothing about this pair speaks for it"
        if not self.matrix.seen[0]:
            if together >= MAINLY * words:
                return "decided mainly by the fact that the words are never seen together"
            return "decided by the words alone; they are never seen together"
        if together >= MAINLY * words:
            return "decided mainly by the sentences with both words"
        if words < MAINLY * together:
            return "decided by the words and by the sentences with both of them"
        for word, own, other in ((w1, one, two), (w2, two, one)):
            if own >= MAINLY * other:
                return f"decided mainly by the contexts of {word} alone"
        return "decided mainly by the contexts of each word alone"

    # Contexts of both words, and features --------------------------------------------------------------------------

    def _contexts(self, sums: Floats, values: Floats, mix: Floats) -> tuple[Reason, ...]:
        """Contexts of the two together: those for the label first, then by content words, place and order.

        Content words come before function words. What is between the two says more of their relation than what is
        before or after both (*a cause of plague* is no evidence for *plague – death*), and the pair's own order more
        than the other one.
        """
        places = [self.observed.places[self.observed.place[group.members[0]]] for group in self.groups]
        own = [
            number
            for number, (group, place) in enumerate(zip(self.groups, places, strict=True))
            if group.kind == CONTEXT and place.startswith("v12:")
        ]
        least = LEAST * float(np.abs(sums[own]).max(initial=0.0))
        ranked = []
        for number in own:
            if abs(sums[number]) > least:
                order, where = places[number][4], places[number][5:]
                content = self._has_content(self.groups[number])
                key = sums[number] < 0, not content, where != "betw", order == "-", -abs(sums[number])
                ranked.append((*key, number))
        ranked.sort()
        chosen = [entry for entry in ranked if not entry[0]][: self.top]
        chosen += [entry for entry in ranked if entry[0]][: min(AGAINST, self.top - len(chosen))]
        return tuple(
            replace(
                self._reason(self.groups[number], values),
                pairs=self._sharing(self.groups[number], mix * np.sign(sums[number])),
            )
            for *_, number in chosen
        )

    @cached_property
    def _content_terms(self) -> set[int]:
        """The terms of the pair's contexts that have a content word."""
        corpus, terms = self.source.for_basis, self.model.terms
        used = sorted({int(term) for term in self.observed.term if term >= 0})
        words = sorted({word for term in used for word in terms[term].split(" ")})
        content = is_content_word(corpus, corpus.lexicon.keys.find(words))
        named = {word for word, own in zip(words, content.tolist(), strict=True) if own}
        return {term for term in used if named.intersection(terms[term].split(" "))}

    def _has_content(self, group: Group) -> bool:
        return any(int(self.observed.term[index]) in self._content_terms for index in group.members)

    def _sharing(self, group: Group, mix: Floats) -> tuple[Like, ...]:
        """The training pairs through which a context adds most to the outputs of a mix."""
        training = self.model.training
        if training is None:
            return ()
        columns = self.observed.column[list(group.members)]
        shared = self._pair_columns[:, columns] @ self.observed.rows["v12"][columns].astype(np.float32)
        shares = shared * (training.coef @ mix)
        best = [i for i in np.argsort(-shares, kind="stable")[:SHARED_BY].tolist() if shares[i] > 0]
        return tuple(Like(training.pair_name(i), float(shares[i])) for i in best)

    @cached_property
    def _pair_columns(self) -> Any:
        training = self.model.training
        assert training is not None
        return training.rows["v12"].tocsc()

    def _reason(self, group: Group, values: Floats) -> Reason:
        observed, terms = self.observed, self.model.terms
        found = []
        for index in group.members:
            name = observed.places[observed.place[index]]
            if observed.term[index] >= 0:
                name += f":{terms[observed.term[index]]}"
            found.append(FeaturePart(name, int(observed.counts[index]), float(values[index])))
        return self.writer.reason(found, group.kind, self.lines)
