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

from bagpack.arrays import I64, Bools, Floats
from bagpack.contexts.targets import ContextSource
from bagpack.corpus.words import is_content_word
from bagpack.explain.lines import PairEvidence
from bagpack.explain.reasons import CONTEXT, FeaturePart, Like, Reason, group_features, make_reason
from bagpack.learn.model import LinearModel, TrainingPairs
from bagpack.names import COSINE, PRODUCT, SEGMENTS, STATISTICS, over_terms
from bagpack.vectors.counts import PairCounts
from bagpack.wording import say_times

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
    """

    name: str
    value: float
    alike: tuple[Like, ...]  # the training words (of the two together: training pairs) that add most
    against: tuple[Like, ...]  # those that add least
    others: int  # how many other training words or pairs there are
    rest: float  # what they add
    extra: Sums  # what is no training word's or pair's, by its description: contexts in common, how often together


@dataclass(frozen=True)
class Decision:
    """One label's decision value as a sum.

    value = base + Σ parts = bias + Σ blocks = bias + Σ reasons + rest.
    """

    label: str
    probability: float | None  # calibrated; None where the model has no calibration or predicts ratings
    bar: float  # 0 to 1: the probability, or where the value is between the labels' lowest and highest
    value: float
    bias: float  # the value of a pair without any observation
    blocks: Sums  # what the features of each block add
    rest: float  # what the features add that no reason has
    summary: str = ""  # which part decides, as a sentence
    base: float = 0.0  # what the mean training pair has
    parts: tuple[Part, ...] = ()  # none for a model that kept no training pairs
    contexts: tuple[Reason, ...] = ()  # of the two words together, with the training pairs that share them
    reasons: tuple[Reason, ...] = ()  # the strongest groups of features
    others: int = 0  # how many other groups there are


@dataclass(frozen=True)
class ObservedFeatures:
    """The features of one pair that are not zero, weighted once for all labels; names are made where they are shown."""

    places: list[str]  # v1:pre, v1:post, v2:pre …
    blocks: dict[str, slice]  # which features are of each block
    rows: dict[str, Floats]  # all values of each block
    place: I64  # each feature's, by number
    term: I64  # among the terms of its block; -1 where the feature is not of a term
    column: I64  # of its block
    counts: I64
    parts: Floats  # features × outputs: value × weight

    @classmethod
    def of(cls, model: LinearModel, one: PairCounts) -> ObservedFeatures:
        places: list[str] = []
        parts: list[tuple[Any, ...]] = []
        blocks, rows, start = {}, {}, 0
        features = model.features(one)
        for block, row in features.split(features.matrix().toarray().T).items():
            columns = np.flatnonzero(row[:, 0])
            values = row[columns, 0]
            segments, weights = SEGMENTS[block], model.weights[block]
            # A block that is not over terms has each column as a place of its own.
            terms = len(weights) // len(segments)
            place = len(places) + columns // terms
            term = columns % terms if over_terms(block) else np.full(len(columns), -1)
            own = weights[columns] * values[:, None]
            parts.append((place, term, columns, evidence(one, block, columns), own))
            places += [f"{block}:{segment}" for segment in segments]
            blocks[block] = slice(start, start + len(columns))
            start += len(columns)
            rows[block] = row[:, 0]
        joined: list[Any] = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return cls(places, blocks, rows, *joined)


def evidence(one: PairCounts, block: str, columns: I64) -> I64:
    """The integers behind some columns of a block."""
    if block == STATISTICS:
        plus, minus, seen = (int(values[0]) for values in (one.n_plus, one.n_minus, one.seen))
        return np.array([plus, minus, seen, seen, plus - minus], dtype=np.int64)[columns]
    if block == "v12":
        return np.asarray(one.tocsr("v12").toarray()[0, columns])
    first, second = (one.words[[int(rows[0])]].toarray()[0] for rows in (one.w1, one.w2))
    if block == COSINE:
        return np.full(len(columns), int(((first > 0) & (second > 0)).sum()), dtype=np.int64)
    return np.asarray({"v1": first, "v2": second, PRODUCT: np.minimum(first, second)}[block][columns])


class PairDecisions:
    """The decisions about one pair. A label's numbers are those of the model's outputs times a column of `mix`."""

    def __init__(
        self, model: LinearModel, source: ContextSource, counts: PairCounts, cited: PairEvidence | None, top: int,
        lines: int, features: bool,
    ) -> None:  # fmt: skip
        self.model, self.counts, self.source, self.top = model, counts, source, top
        self.cited, self.lines, self.features = cited, lines, features
        self.observed = observed = ObservedFeatures.of(model, counts)
        # Two labels share one output, which is positive for the second.
        self.mix: Floats = model.scores_of(np.eye(len(model.intercept)))
        decisions = model.decisions(counts)
        self.scores: Floats = (decisions @ self.mix)[0]
        self.answered = bool(model.answered(counts, decisions)[0])
        self.probabilities: Floats | None = None
        if model.calibration is not None and model.kind != "rating":
            self.probabilities = model.probabilities(decisions)[0]
        wanted = slice(None) if self.features else observed.blocks.get("v12", slice(0))
        self.groups = group_features(
            observed.places, observed.place, observed.term, observed.counts, model.basis.terms, wanted
        )
        rating = model.kind == "rating"
        self.labels = ["rating"] if rating else [str(name) for name in model.classes]
        chosen = int(np.argmax(self.scores))
        self.answer = f"{self.scores[0]:.3f}" if rating else self.labels[chosen]
        likely = self.scores if self.probabilities is None else self.probabilities
        self.order = sorted(range(len(self.scores)), key=lambda k: (k != chosen, -likely[k], -self.scores[k]))

    def decision(self, k: int, explained: bool) -> Decision:
        """A label's decision; with parts and reasons if it is explained."""
        mix, bias = self.mix[:, k], float(self.model.intercept @ self.mix[:, k])
        values = self.observed.parts @ mix
        value = bias + float(values.sum())
        blocks = {block: float(values[own].sum()) for block, own in self.observed.blocks.items()}
        low, high = self.scores.min(), self.scores.max()
        bar = float((self.scores[k] - low) / (high - low)) if high > low else 1.0
        probability = None if self.probabilities is None else float(self.probabilities[k])
        found = Decision(
            self.labels[k], probability, bar if probability is None else probability, value, bias, blocks, value - bias
        )  # fmt: skip
        if not explained:
            return found
        sums: Floats = np.array([values[group.members].sum() for group in self.groups])
        strongest = np.argsort(-np.abs(sums), kind="stable") if self.features else np.empty(0, np.int64)
        strongest = strongest[sums[strongest] != 0]
        reasons = tuple(self._reason(number, values) for number in strongest[: self.top].tolist())
        parts = self._parts(self.model.training, mix)
        return replace(
            found, summary=self._summary(parts), base=value - sum(part.value for part in parts), parts=parts,
            contexts=self._contexts(sums, values, mix), reasons=reasons,
            rest=value - bias - sum(reason.value for reason in reasons), others=len(strongest) - len(reasons),
        )  # fmt: skip

    # Training words and pairs --------------------------------------------------------------------------------------

    def _parts(self, training: TrainingPairs, mix: Floats) -> tuple[Part, ...]:
        """The three parts, of the blocks that the model has."""
        net = {
            block: float((row - training.means[block]) @ self.model.weights[block] @ mix)
            for block, row in self.observed.rows.items()
        }
        w1, w2 = self.counts.pairs[0]
        extra: dict[str, Sums] = {FIRST: {}, SECOND: {}, TOGETHER: {}}
        if PRODUCT in net:  # of both words, so each has half of it
            shared = (net[PRODUCT] + net.get(COSINE, 0.0)) / 2
            extra[FIRST][f"contexts in common with {w2}"] = shared
            extra[SECOND][f"contexts in common with {w1}"] = shared
        if STATISTICS in net:
            together = int(self.counts.seen[0])
            seen = f"seen together {say_times(together)}" if together else "never seen together"
            extra[TOGETHER][seen] = net[STATISTICS]
        parts = []
        for name, block in BLOCK_OF.items():
            if block not in net:
                continue
            shares = self._likeness[block] * (training.coefficients(block) @ mix)
            order = np.argsort(-shares, kind="stable")
            order = order[shares[order] != 0]
            alike = [i for i in order[:ALIKE].tolist() if shares[i] >= SHOWN]
            against = [i for i in order[::-1][:AGAINST].tolist() if shares[i] <= -SHOWN]
            named = training.pair_name if block == "v12" else training.names.__getitem__
            likes = {i: Like(named(i), float(shares[i])) for i in (*alike, *against)}
            rest = net[block] - sum(like.value for like in likes.values())
            others = len(order) - len(likes)
            parts.append(
                Part(
                    name, net[block] + sum(extra[name].values()), tuple(likes[i] for i in alike),
                    tuple(likes[i] for i in against), others, rest, extra[name],
                )
            )  # fmt: skip
        return tuple(parts)

    @cached_property
    def _likeness(self) -> dict[str, Floats]:
        """How much the pair is like each training word or pair, by block."""
        training = self.model.training
        return {block: training.likeness(block, self.observed.rows[block]) for block in training.rows}

    def _summary(self, parts: Sequence[Part]) -> str:
        """Which part decides, as a sentence."""
        if not parts or self.model.kind == "rating":
            return ""
        together = sum(part.value for part in parts if part.name == TOGETHER)
        words = sum(part.value for part in parts) - together
        seen = bool(self.counts.seen[0])
        if words + together <= 0:
            return "nothing about this pair speaks for it"
        if together >= MAINLY * words:
            what = "sentences with both words" if seen else "fact that the words are never seen together"
            return f"decided mainly by the {what}"
        if not seen:
            return "decided by the words alone; they are never seen together"
        if words < MAINLY * together:
            return "decided by the words and by the sentences with both of them"
        return "decided mainly by the contexts of each word alone"

    # Contexts of both words, and features --------------------------------------------------------------------------

    def _contexts(self, sums: Floats, values: Floats, mix: Floats) -> tuple[Reason, ...]:
        """Contexts of the two together: those for the label first, then by content words, place and order.

        Content words come before function words. What is between the two says more of their relation than what is
        before or after both (*a cause of plague* is no evidence for *plague – death*), and the pair's own order more
        than the other one.
        """
        observed = self.observed
        places = {
            number: observed.places[observed.place[group.members[0]]]
            for number, group in enumerate(self.groups)
            if group.kind == CONTEXT
        }
        own = [number for number, place in places.items() if place.startswith("v12:")]
        least = LEAST * float(np.abs(sums[own]).max(initial=0.0))
        ranked = []
        for number in own:
            if abs(sums[number]) > least:
                order, where = places[number][4], places[number][5:]
                content = bool(self._is_content[observed.term[self.groups[number].members]].any())
                key = sums[number] < 0, not content, where != "betw", order == "-", -abs(sums[number])
                ranked.append((*key, number))
        ranked.sort()
        chosen = [entry for entry in ranked if not entry[0]][: self.top]
        chosen += [entry for entry in ranked if entry[0]][: min(AGAINST, self.top - len(chosen))]
        return tuple(
            replace(self._reason(number, values), pairs=self._sharing(number, mix * np.sign(sums[number])))
            for *_, number in chosen
        )

    @cached_property
    def _is_content(self) -> Bools:
        """Of each term, whether it has a content word; looked up for those of the pair's contexts."""
        corpus, terms = self.source.for_basis, self.model.basis.terms
        used = np.unique(self.observed.term[self.observed.blocks["v12"]]).tolist()
        words = sorted({word for term in used for word in terms[term].split(" ")})
        content = is_content_word(corpus, corpus.lexicon.keys.find(words)).tolist()
        named = {word for word, own in zip(words, content, strict=True) if own}
        found = np.zeros(len(terms), np.bool_)
        found[[term for term in used if named.intersection(terms[term].split(" "))]] = True
        return found

    def _sharing(self, number: int, mix: Floats) -> tuple[Like, ...]:
        """The training pairs through which a context adds most to the outputs of a mix."""
        training = self.model.training
        columns = self.observed.column[self.groups[number].members]
        shared = self._pair_columns[:, columns] @ self.observed.rows["v12"][columns].astype(np.float32)
        shares = shared * (training.coef @ mix)
        best = [i for i in np.argsort(-shares, kind="stable")[:SHARED_BY].tolist() if shares[i] > 0]
        return tuple(Like(training.pair_name(i), float(shares[i])) for i in best)

    @cached_property
    def _pair_columns(self) -> Any:
        return self.model.training.rows["v12"].tocsc()

    def _reason(self, number: int, values: Floats) -> Reason:
        observed, group = self.observed, self.groups[number]
        found = []
        for index in group.members:
            name = observed.places[observed.place[index]]
            if observed.term[index] >= 0:
                name += f":{self.model.basis.terms[observed.term[index]]}"
            found.append(FeaturePart(name, int(observed.counts[index]), float(values[index])))
        return make_reason(found, group.kind, self.counts, self.cited, self.lines)
