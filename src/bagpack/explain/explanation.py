"""A decision as a sum of reasons, each with the features and the corpus lines behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.source import ContextSource, elsewhere
from bagpack.corpus.store.corpus import Corpus
from bagpack.errors import UsageError
from bagpack.explain.grouping import CONTEXT, Group, group_features
from bagpack.explain.lines import PairEvidence
from bagpack.explain.reasons import FeaturePart, Reason, ReasonWriter
from bagpack.learn.features import block_of, evidence
from bagpack.learn.model import LinearModel
from bagpack.names import SEGMENTS, over_terms
from bagpack.sources import as_source
from bagpack.vectors.matrix import BlockMatrix
from bagpack.wording import say_elsewhere

Floats = NDArray[np.float64]
Sums = dict[str, float]

HALF = 0.5  # of the absolute contribution that the reasons of a decision cover …
MOST = 200  # … unless it takes more than these


@dataclass(frozen=True)
class Decision:
    """One label's decision value as a sum, or the difference of two labels' (`against` names the second).

    value = bias + Σ blocks = bias + Σ segments = bias + Σ reasons + rest.

    Attributes
    ----------
    probability
        Calibrated; None where the model has no calibration or predicts ratings, and for a difference.
    bar
        Length of the label's bar, 0 to 1: its probability, or where its decision value is between the labels' lowest
        and highest.
    reasons
        The strongest; of the predicted label, the runner-up, labels that were asked for and differences, enough to
        cover half of the absolute contribution (if 200 do). Punctuation and frequency come last unless they decide.
        The first `shown` were asked for, and those alone have lines.
    rest, others
        What the reasons not listed add, and how many there are.
    coverage
        Share of the absolute contribution that the first `shown` reasons have.
    """

    label: str
    against: str | None
    probability: float | None
    bar: float
    value: float
    bias: float
    blocks: Sums
    segments: Sums
    reasons: tuple[Reason, ...]
    shown: int
    rest: float
    others: int
    coverage: float

    @property
    def features(self) -> tuple[FeaturePart, ...]:
        """The features of all reasons that are listed, by absolute value."""
        every = [feature for reason in self.reasons for feature in reason.features]
        return tuple(sorted(every, key=lambda feature: -abs(feature.value)))

    @property
    def hidden(self) -> float:
        """What all but the first `shown` reasons add."""
        return self.rest + float(np.sum([reason.value for reason in self.reasons[self.shown :]]))


@dataclass(frozen=True)
class Explanation:
    """Why a model predicts a label for a pair.

    Attributes
    ----------
    answer
        The label (several are joined by commas) or the rating; None where the model does not answer, and `notes` say
        why. With an unknown word there are no decisions either.
    probability
        Of the answer, or of the label that comes first where there is none; None if the model has no calibration.
    trained
        Whether the model was trained on this pair: then the prediction is not evidence.
    decisions
        The answer's label first, then the others by probability.
    contrast
        The difference of two labels, if one was asked for.
    """

    w1: str
    w2: str
    kind: str
    answer: str | None
    probability: float | None
    trained: bool
    counts: dict[str, int]
    unknown: tuple[str, ...]
    notes: tuple[str, ...]
    decisions: tuple[Decision, ...]
    contrast: Decision | None = None

    def __getitem__(self, label: str) -> Decision:
        return {decision.label: decision for decision in self.decisions}[label]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def to_html(self) -> str:
        """A fragment of HTML with its own style."""
        from bagpack.report.explanation import render_explanation

        return render_explanation(self.to_dict())

    _repr_html_ = to_html


def explain_pair(
    model: LinearModel, source: ContextSource | Corpus, w1: str, w2: str, *, labels: Sequence[str] | None = None,
    against: str | None = None, top: int = 10, lines: int = 3, in_full: bool = True, n_jobs: int | None = None,
) -> Explanation:  # fmt: skip
    """Explain a model's decisions about a pair.

    Parameters
    ----------
    labels
        The labels to explain; None explains all, the predicted one first.
    against
        A label to compare with: the reasons for the predicted label (or the one in ``labels``) and not for this one.
    top
        Number of reasons that each decision shows.
    lines
        Number of corpus lines that each reason shows; 0 shows none.
    in_full
        Whether all labels get reasons; otherwise the predicted one and the runner-up.
    """
    source = as_source(source)
    matrix = model.count([(w1, w2)], source, n_jobs)
    found = explain_matrix(
        model, source, matrix, labels=labels, against=against, top=top, lines=lines, in_full=in_full
    )
    reported = [say_elsewhere(**asdict(item)) for item in elsewhere(source, (w1, w2))]
    return replace(found, notes=(*reported, *found.notes))


def explain_matrix(
    model: LinearModel, source: ContextSource, matrix: BlockMatrix, *,
    labels: Sequence[str] | None = None, against: str | None = None, top: int = 10, lines: int = 3,
    in_full: bool = True,
) -> Explanation:  # fmt: skip
    """Explain a pair that is counted already: the only row of a matrix."""
    w1, w2 = matrix.pairs[0]
    names = ["rating"] if model.kind == "rating" else [str(name) for name in model.classes]
    for name in [*(labels or ()), *([] if against is None else [against])]:
        model.label_named(name)
    counts = {name: int(getattr(matrix, name)[0]) for name in ("n_w1", "n_w2", "n_plus", "n_minus")}
    trained = bool(model.trained_on(matrix.pairs)[0])
    unknown = tuple(dict.fromkeys(word for word in (w1, w2) if matrix.resolved[word] is None))
    if unknown:
        why = f"no prediction: the corpus does not contain {' and '.join(unknown)}"
        return Explanation(
            w1, w2, model.kind, None, None, trained, counts, unknown, (why, *_caps(matrix)), ()
        )
    explainer = _Explainer(model, source, matrix, top, lines)
    order = explainer.order()
    wanted = [k for k in order if labels is None or names[k] in labels]
    full = len(wanted) if in_full else len(explainer.chosen) + (model.kind != "binary")
    half = len(wanted) if labels else len(explainer.chosen) + 1
    decisions = [explainer.decision(k, i < full, i < half) for i, k in enumerate(wanted)]
    contrast = None
    if against is not None:
        first = next(k for k in wanted if names[k] != against) if labels is None else names.index(labels[0])
        if names[first] == against:
            raise UsageError(f"{against} cannot be compared with itself; choose another label")
        contrast = explainer.difference(first, names.index(against))
    notes: tuple[str, ...] = ()
    if model.threshold is not None and not explainer.answered:
        wanted_share = f"{100 * model.threshold.wanted:g} %"
        notes = (f"no prediction: the probability of the label is too low for a precision of {wanted_share}",)
    answer = None if notes else explainer.answer
    best = None if explainer.probabilities is None else float(explainer.probabilities[order[0]])
    return Explanation(
        w1, w2, model.kind, answer, best, trained, counts, (), (*notes, *_caps(matrix)), tuple(decisions), contrast
    )  # fmt: skip


@dataclass(frozen=True)
class ObservedFeatures:
    """The features of one pair that are not zero, weighted once for all labels; names are made where they are shown."""

    places: list[str]  # v1:pre, v1:post, v2:pre …
    place: NDArray[np.int64]  # each feature's, by number
    term: NDArray[np.int64]  # among the terms of its block; -1 where the feature is not of a term
    counts: NDArray[np.int64]
    values: Floats  # scaled, as the model takes them
    weights: Floats  # features × outputs

    @classmethod
    def of(cls, model: LinearModel, one: BlockMatrix) -> ObservedFeatures:
        """Those of a single pair."""
        places: list[str] = []
        parts: list[tuple[Any, ...]] = []
        for weighting, block_weights in zip(model.weightings, model.weights, strict=True):
            rows = weighting.apply(block_of(one, weighting.name).compact()).expanded()
            counts = evidence(one, weighting.name, rows.indices)
            segments = SEGMENTS[weighting.name]
            # A block that is not over terms has each column as a place of its own.
            terms = rows.shape[1] // len(segments)
            place = len(places) + rows.indices // terms
            term = rows.indices % terms if over_terms(weighting.name) else np.full(len(rows.indices), -1)
            parts.append((place, term, counts, rows.data, block_weights[rows.indices]))
            places += [f"{weighting.name}:{segment}" for segment in segments]
        return cls(places, *(np.concatenate(column) for column in zip(*parts, strict=True)))


class _Explainer:
    """The decisions about one pair, label by label, over the same groups of features."""

    def __init__(
        self, model: LinearModel, source: ContextSource, matrix: BlockMatrix, top: int, lines: int
    ) -> None:
        self.model, self.top, self.lines = model, top, lines
        self.observed = observed = ObservedFeatures.of(model, matrix)
        # One column per label; two labels share one output, which is positive for the second.
        self.parts: Floats = model.scores_of(observed.weights * observed.values[:, None])
        self.bias: Floats = model.scores_of(model.intercept[None, :])[0]
        self.scores: Floats = self.bias + self.parts.sum(axis=0)
        decisions = model.decisions(matrix)
        self.answered = bool(model.answered(matrix, decisions)[0])
        self.probabilities: Floats | None = None
        if model.calibration is not None and model.kind != "rating":
            self.probabilities = model.probabilities(decisions)[0]
        self.groups: list[Group] = group_features(
            observed.places, observed.place, observed.term, observed.counts, model.terms
        )
        self.sums: Floats = np.array([self.parts[list(group.members)].sum(axis=0) for group in self.groups])
        self.sums = self.sums.reshape(len(self.groups), self.parts.shape[1])
        first, second = (matrix.resolved[word] for word in matrix.pairs[0])
        cited = None
        if lines and first is not None and second is not None:
            cited = PairEvidence(source, first, second, matrix.settings, matrix.basis.tagged)
        self.writer = ReasonWriter(matrix, cited)
        answer = model.decode(decisions)[0]
        if model.kind == "rating":
            self.answer, self.chosen = f"{float(answer):.3f}", [0]
        else:
            several = model.kind == "multilabel"
            positive = np.flatnonzero(self.scores > 0) if several else [int(np.argmax(self.scores))]
            self.chosen = [int(k) for k in positive]
            self.answer = ", ".join(sorted(str(model.classes[k]) for k in self.chosen))

    def order(self) -> list[int]:
        """The labels of the answer first, then by probability."""
        likely = self.scores if self.probabilities is None else self.probabilities
        labels = range(len(self.scores))
        return sorted(labels, key=lambda k: (k not in self.chosen, -likely[k], -self.scores[k]))

    def decision(self, k: int, explained: bool, half: bool) -> Decision:
        """A label's decision; with reasons if it is explained, and then enough for half of it or the first alone."""
        decides = self._decisive[:, k].tolist()
        label = "rating" if self.model.kind == "rating" else str(self.model.classes[k])
        probability = None if self.probabilities is None else float(self.probabilities[k])
        return self._decision(
            label, None, probability, self._bar(k), self.bias[k], self.parts[:, k], self.sums[:, k], decides,
            self.top if explained else 0, half,
        )  # fmt: skip

    def difference(self, k: int, other: int) -> Decision:
        """The reasons for one label and against another."""
        values, sums = (table[:, k] - table[:, other] for table in (self.parts, self.sums))
        gap = self.scores[k] - self.scores[other]
        decides = [bool((gap > 0) != (gap - value > 0)) for value in sums]
        return self._decision(
            str(self.model.classes[k]), str(self.model.classes[other]), None, 1.0,
            self.bias[k] - self.bias[other], values, sums, decides, self.top, True,
        )  # fmt: skip

    @cached_property
    def _decisive(self) -> NDArray[np.bool_]:
        """Groups × labels: whether the answer would be another one without a group."""
        without = self.scores - self.sums
        if self.model.kind == "rating":
            return np.asarray(np.abs(self.sums) > HALF * np.abs(self.sums).sum(axis=0))
        if self.model.kind == "multilabel":
            return np.asarray((without > 0) != (self.scores > 0))
        changed = without.argmax(axis=1) != self.chosen[0]
        return np.broadcast_to(changed[:, None], without.shape)

    def _bar(self, k: int) -> float:
        if self.probabilities is not None:
            return float(self.probabilities[k])
        low, high = self.scores.min(), self.scores.max()
        return float((self.scores[k] - low) / (high - low)) if high > low else 1.0

    def _decision(
        self, label: str, against: str | None, probability: float | None, bar: float, bias: float, values: Floats,
        sums: Floats, decides: Sequence[bool], top: int, half: bool,
    ) -> Decision:  # fmt: skip
        observed = self.observed
        by_place = np.bincount(observed.place, values, len(observed.places)).tolist()
        segments: Sums = dict(zip(observed.places, by_place, strict=True))
        blocks: Sums = {}
        for place, value in segments.items():
            block = place.partition(":")[0]
            blocks[block] = blocks.get(block, 0.0) + value
        size = np.abs(sums)
        strongest = np.argsort(-size, kind="stable")
        strongest = strongest[size[strongest] > 0]
        covered = np.cumsum(size[strongest])
        enough = int(np.searchsorted(covered, HALF * covered[-1])) + 1 if covered.size and half else 0
        listed = max(top, min(enough, MOST)) if top else 0
        chosen = [*self._last(strongest[:top], decides), *self._last(strongest[top:listed], decides)]
        reasons = [
            self.writer.reason(
                self._features(self.groups[number], values), self.groups[number].kind, decides[number],
                self.lines if place < top else 0,
            )
            for place, number in enumerate(chosen)
        ]  # fmt: skip
        value = float(bias + values.sum())
        shown = min(top, len(reasons))
        return Decision(
            label, against, probability, bar, value, float(bias), blocks, segments, tuple(reasons), shown,
            value - float(bias) - float(np.sum([reason.value for reason in reasons])),
            len(strongest) - len(reasons), float(covered[shown - 1] / covered[-1]) if shown else 0.0,
        )  # fmt: skip

    def _last(self, numbers: NDArray[np.intp], decides: Sequence[bool]) -> list[int]:
        """Punctuation and frequency come last unless they decide."""
        return sorted(
            numbers.tolist(), key=lambda number: self.groups[number].kind != CONTEXT and not decides[number]
        )

    def _features(self, group: Group, values: Floats) -> list[FeaturePart]:
        observed, terms = self.observed, self.model.terms
        found = []
        for index in group.members:
            name = observed.places[observed.place[index]]
            if observed.term[index] >= 0:
                name += f":{terms[observed.term[index]]}"
            found.append(FeaturePart(name, int(observed.counts[index]), float(values[index])))
        return found


def _caps(matrix: BlockMatrix) -> tuple[str, ...]:
    limit = matrix.settings.limit
    capped = {**matrix.capped_words, **matrix.capped_pairs}
    return tuple(f"{name}: {limit:,} of {total:,} observations counted" for name, total in capped.items())
