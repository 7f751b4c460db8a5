"""A decision as a sum: bias, blocks, segments, features; and for each feature, its lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.source import ContextSource, elsewhere
from bagpack.explain.lines import FeatureLines, PairEvidence
from bagpack.learn.features import block_of, evidence
from bagpack.learn.model import LinearModel
from bagpack.names import SEGMENTS, over_terms
from bagpack.vectors.matrix import BlockMatrix
from bagpack.wording import feature_in_words, say_elsewhere, say_evidence, say_feature

Sums = dict[str, float]


@dataclass(frozen=True)
class FeaturePart:
    """What one feature adds to a decision; `lines` are the contexts that made its count."""

    name: str
    count: int
    value: float
    lines: FeatureLines | None = None

    def note(self, w1: str, w2: str) -> str:
        """How often, and how many lines there are: one number where they are the same, two where they are not."""
        how_often = say_evidence(self.name, self.count, w1, w2)
        if self.lines is None:
            return how_often
        if self.count == self.lines.total:
            return self.lines.note
        return f"{how_often}; {len(self.lines.lines):,} of {self.lines.total:,} lines for {self.name}"

    def to_dict(self, w1: str, w2: str) -> dict[str, Any]:
        """For JSON."""
        said = say_feature(self.name, w1, w2)
        entry: dict[str, Any] = {
            "name": self.name,
            "words": feature_in_words(self.name, w1, w2),
            "pattern": said.pattern,
            "place": said.place,
            "count": self.count,
            "evidence": say_evidence(self.name, self.count, w1, w2),
            "value": self.value,
        }
        if self.lines is not None:
            entry["total"] = self.lines.total
            entry["lines"] = self.lines.line_dicts()
        return entry


@dataclass(frozen=True)
class Decision:
    """One label's decision value taken apart. bias + Σ blocks = bias + Σ segments = value, to the last digit."""

    label: str
    value: float
    bias: float
    blocks: Sums
    segments: Sums
    features: tuple[FeaturePart, ...]  # the strongest, by absolute value
    rest: float  # what the features not listed add

    def to_dict(self, w1: str, w2: str) -> dict[str, Any]:
        """For JSON."""
        return {
            "label": self.label,
            "value": self.value,
            "bias": self.bias,
            "blocks": self.blocks,
            "segments": self.segments,
            "features": [feature.to_dict(w1, w2) for feature in self.features],
            "rest": self.rest,
        }


@dataclass(frozen=True)
class Explanation:
    """Why a model decides about a pair as it does."""

    w1: str
    w2: str
    answer: str
    decisions: tuple[Decision, ...]
    counts: dict[str, int]
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def __getitem__(self, label: str) -> Decision:
        for decision in self.decisions:
            if decision.label == label:
                return decision
        raise KeyError(label)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "w1": self.w1,
            "w2": self.w2,
            "answer": self.answer,
            "counts": self.counts,
            "unknown": list(self.unknown),
            "notes": list(self.notes),
            "decisions": [decision.to_dict(self.w1, self.w2) for decision in self.decisions],
        }

    def to_html(self) -> str:
        """A fragment of HTML with its own style."""
        from bagpack.report.explanation import render_explanation

        return render_explanation(self.to_dict())

    def _repr_html_(self) -> str:
        return self.to_html()


def explain_pair(
    model: LinearModel, source: ContextSource, w1: str, w2: str, *, labels: Sequence[str] | None = None,
    top: int = 10, lines: int = 3, in_full: bool = True, n_jobs: int | None = None,
) -> Explanation:  # fmt: skip
    """Explain a model's decisions about a pair.

    Parameters
    ----------
    labels
        The labels to explain; None explains all, the highest decision first.
    top
        How many features each decision lists.
    lines
        How many corpus lines each feature shows; 0 shows none.
    """
    matrix = model.count([(w1, w2)], source, n_jobs)
    found = explain_matrix(model, source, matrix, labels=labels, top=top, lines=lines, in_full=in_full)
    told = [say_elsewhere(**asdict(item)) for item in elsewhere(source, (w1, w2))]
    return replace(found, notes=(*told, *found.notes))


def explain_matrix(
    model: LinearModel, source: ContextSource, matrix: BlockMatrix, row: int = 0, *,
    labels: Sequence[str] | None = None, top: int = 10, lines: int = 3, in_full: bool = True,
) -> Explanation:  # fmt: skip
    """Explain a pair that is counted already."""
    matrix = matrix.select([row])
    w1, w2 = matrix.pairs[0]
    first, second = matrix.resolved[w1], matrix.resolved[w2]
    lines_of = None
    if lines and first is not None and second is not None:
        lines_of = PairEvidence(source, first, second, matrix.settings)
    names: Sequence[Any] = [None] if model.kind == "rating" else model.classes
    wanted = [name for name in names if labels is None or str(name) in labels]
    observed = ObservedFeatures.of(model, matrix)
    chosen = model.predict(matrix)[0]
    if in_full:
        listed = len(wanted)
    elif isinstance(chosen, set | frozenset):
        listed = len(chosen) + 1
    else:
        listed = 1 if model.kind == "binary" else 2
    sums = {label: _decision(model, observed, label, None, 0, 0) for label in wanted}
    ranked = sorted(wanted, key=lambda label: -sums[label].value)
    decisions = [_decision(model, observed, label, lines_of, top, lines) for label in ranked[:listed]]
    decisions += [sums[label] for label in ranked[listed:]]
    shown = ", ".join(sorted(map(str, chosen))) if isinstance(chosen, set | frozenset) else str(chosen)
    if model.kind == "rating":
        shown = f"{float(chosen):.3f}"
    return Explanation(
        w1, w2, shown, tuple(decisions),
        {
            "n_w1": int(matrix.n_w1[0]), "n_w2": int(matrix.n_w2[0]),
            "n_plus": int(matrix.n_plus[0]), "n_minus": int(matrix.n_minus[0]),
        },
        tuple(word for word in (w1, w2) if matrix.resolved[word] is None),
        (*_model_notes(model, matrix), *_notes(matrix)),
    )  # fmt: skip


@dataclass(frozen=True)
class ObservedFeatures:
    """The features of one pair that are not zero, weighted once for all labels; names are made where they are shown."""

    places: list[str]  # v1:pre, v1:post, v2:pre …
    place: NDArray[np.int64]  # each feature's, by number
    term: NDArray[np.int64]  # among the terms of its block; -1 where the feature is not of a term
    counts: NDArray[np.int64]
    values: NDArray[np.float64]  # scaled, as the model takes them
    weights: NDArray[np.float64]  # features × outputs

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


def _model_notes(model: LinearModel, matrix: BlockMatrix) -> Iterator[str]:
    """What a reader must know of the answer: whether the pair was trained on, and whether there is an answer at all."""
    if model.trained_on(matrix.pairs)[0]:
        yield "the model was trained on this pair"
    if not model.answered(matrix, model.decisions(matrix))[0]:
        reason = "the corpus does not have a word"
        if not matrix.unknown[0] and model.threshold is not None:
            reason = f"its probability is too low for a precision of {model.threshold.wanted:.0%}"
        yield f"the model answers none of these: {reason}"


def _notes(matrix: BlockMatrix) -> tuple[str, ...]:
    limit = matrix.settings.limit
    capped = {**matrix.capped_words, **matrix.capped_pairs}
    return tuple(
        f"{name}: {limit:,} of {total:,} observations were counted" for name, total in capped.items()
    )


def _decision(
    model: LinearModel,
    observed: ObservedFeatures,
    label: Any,
    evidence: PairEvidence | None,
    top: int,
    lines: int,
) -> Decision:
    # Two labels have one output, which speaks for the second.
    binary = model.kind == "binary"
    output = 0 if binary or label is None else model.classes.index(label)
    sign = -1.0 if binary and model.classes.index(label) == 0 else 1.0
    values = sign * observed.weights[:, output] * observed.values
    bias = sign * float(model.intercept[output])
    sums = np.bincount(observed.place, values, len(observed.places)).tolist()
    segments: Sums = dict(zip(observed.places, sums, strict=True))
    blocks: Sums = {}
    for place, value in segments.items():
        block = place.partition(":")[0]
        blocks[block] = blocks.get(block, 0.0) + value
    features = []
    for index in _strongest(values, top):
        name = observed.places[observed.place[index]]
        if observed.term[index] >= 0:
            name += f":{model.terms[observed.term[index]]}"
        shown = None
        if evidence is not None and lines:
            shown = evidence.lines(name, lines)
        features.append(FeaturePart(name, int(observed.counts[index]), float(values[index]), shown))
    listed = sum(feature.value for feature in features)
    return Decision(
        "rating" if label is None else str(label), bias + float(values.sum()), bias, blocks, segments,
        tuple(features), sum(blocks.values()) - listed,
    )  # fmt: skip


def _strongest(values: NDArray[np.float64], top: int) -> list[int]:
    """The `top` largest by absolute value, equal ones in their order; zeros are left out."""
    size = np.abs(values)
    kept = np.flatnonzero(size)
    if 0 < top < kept.size:
        least = np.partition(size[kept], kept.size - top)[kept.size - top]
        kept = kept[size[kept] >= least]
    order: list[int] = kept[np.argsort(-size[kept], kind="stable")][:top].tolist()
    return order
