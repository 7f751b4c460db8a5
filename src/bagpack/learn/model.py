"""A fitted linear model: weights per named feature, free of the data it was trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bagpack.errors import StoreError, UsageError
from bagpack.learn.block import Block
from bagpack.learn.blocks import BLOCKS, feature_names
from bagpack.learn.counts import PairCounts
from bagpack.learn.gram import project
from bagpack.learn.targets import Kind, decode_kind

if TYPE_CHECKING:
    from bagpack.learn.types import Answers, Floats, Ints, Label
    from bagpack.learn.weighting import Step


@dataclass(frozen=True)
class BlockWeighting:
    """The fitted steps of one block."""

    name: str
    steps: tuple[Step, ...]
    factor: float = 1.0

    def apply(self, block: Block) -> Block:
        """The block's features, shifted so that an all-zero row stays zero."""
        for step in self.steps:
            block = step.on(block)
        return block if self.factor == 1.0 else replace(block, rows=block.rows * self.factor)

    @property
    def zero(self) -> Floats | None:
        """What the shift took away: the features of an all-zero row; None where they are zero."""
        image = self.steps[-1].image_of_zero() if self.steps else None
        return None if image is None else image * self.factor


@dataclass(frozen=True)
class Contributions:
    """A decision taken apart: ``decision = intercept + values.sum()``, one value per non-zero feature."""

    label: Label
    decision: float
    intercept: float
    features: tuple[str, ...]
    counts: Ints
    values: Floats

    def strongest(self, n: int = 10) -> list[tuple[str, float]]:
        """The n features that moved the decision most."""
        order = np.argsort(-np.abs(self.values), kind="stable")[:n]
        return [(self.features[i], float(self.values[i])) for i in order]


@dataclass(frozen=True)
class LinearModel:
    """f(x) = intercept + Σ_j w_j (x_j − z_j), x the scaled features and z those of an all-zero vector.

    Only what was observed contributes: ``intercept`` is the decision value of a pair of which nothing is
    known. In terms of the unshifted x the bias is ``plain_intercept`` = intercept − Σ w_j z_j.

    Parameters
    ----------
    weightings, weights
        Per block, its fitted steps and its weights (columns × outputs).
    outputs
        Two classes have one output, for the second class; otherwise one per class; ratings have one.
    place
        Where it was read from; None for one that was just fitted.
    """

    kind: Kind
    classes: tuple[Any, ...]
    condition: str
    preset: str
    terms: tuple[str, ...]
    weightings: tuple[BlockWeighting, ...]
    weights: tuple[Floats, ...]
    intercept: Floats
    settings: Mapping[str, Any] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)
    as_sets: bool = False
    place: Path | None = None

    @property
    def block_names(self) -> tuple[str, ...]:
        """Names of the blocks, in the order of the features."""
        return tuple(weighting.name for weighting in self.weightings)

    @property
    def plain_intercept(self) -> Floats:
        """The bias over the unshifted scaled features."""
        bias = self.intercept.copy()
        for weighting, weights in zip(self.weightings, self.weights, strict=True):
            if weighting.zero is not None:
                bias -= weighting.zero @ weights
        return bias

    def feature_names(self) -> list[str]:
        """Names of the features, in the order of `weight_matrix`."""
        return [name for block in self.block_names for name in feature_names(block, self.terms)]

    def weight_matrix(self) -> Floats:
        """Weights, outputs × features."""
        return np.vstack(self.weights).T

    def decisions(self, counts: PairCounts) -> Floats:
        """Decision values (or predicted ratings), pairs × outputs."""
        out = np.tile(self.intercept, (len(counts), 1))
        for weighting, weights in zip(self.weightings, self.weights, strict=True):
            features = self._features(counts, weighting, weights)
            out += project(features.rows, features.index, weights)
        return out

    def predict(self, counts: PairCounts) -> Answers:
        """Labels (an array, or a list of sets for several labels per pair) or ratings."""
        return self.decode(self.decisions(counts))

    def decode(self, decisions: Floats) -> Answers:
        """Labels or ratings from decision values."""
        decoded = decode_kind(self.kind, decisions)
        if self.kind == "rating" or (self.kind == "multilabel" and not self.as_sets):
            return decoded.astype(int) if self.kind == "multilabel" else decoded
        if self.kind == "multilabel":
            return [{self.classes[k] for k in np.flatnonzero(row)} for row in decoded]
        return np.array(self.classes)[decoded]

    def label_scores(self, counts: PairCounts) -> Floats:
        """One decision value per class, also for two classes (the first class's is the negated one)."""
        decisions = self.decisions(counts)
        return np.hstack([-decisions, decisions]) if self.kind == "binary" else decisions

    def contributions(self, counts: PairCounts, row: int = 0, label: Label = None) -> Contributions:
        """Every feature's part in the decision for ``label`` about the pair at ``row``."""
        output, sign = self._output(label)
        names: list[str] = []
        raw: list[Ints] = []
        values: list[Floats] = []
        one = counts[[row]]
        for weighting, weights in zip(self.weightings, self.weights, strict=True):
            features = self._features(one, weighting, weights).rows
            block_features = feature_names(weighting.name, self.terms)
            names += [block_features[j] for j in features.indices]
            raw.append(BLOCKS[weighting.name].evidence(one, features.indices))
            values.append(sign * weights[features.indices, output] * features.data)
        parts = np.concatenate(values)
        intercept = sign * float(self.intercept[output])
        decision = intercept + float(parts.sum())
        return Contributions(label, decision, intercept, tuple(names), np.concatenate(raw), parts)

    def strongest(self, label: Label = None, n: int = 20) -> list[tuple[str, float]]:
        """The n features that speak most for ``label``, by weight."""
        output, sign = self._output(label)
        weights = sign * np.concatenate([w[:, output] for w in self.weights])
        order = np.argsort(-weights, kind="stable")[:n]
        names = self.feature_names()
        return [(names[j], float(weights[j])) for j in order]

    def _output(self, label: Label) -> tuple[int, float]:
        """Output column and sign for a label; None is the only output, where there is only one."""
        if label is None:
            if len(self.intercept) == 1:
                return 0, 1.0
            label = self.classes[0]
        if label not in self.classes:
            known = ", ".join(map(str, self.classes))
            raise UsageError(f"the model has no label {label!r}; it has {known or 'ratings only'}")
        k = self.classes.index(label)
        return (0, 1.0 if k == 1 else -1.0) if self.kind == "binary" else (k, 1.0)

    def _features(self, counts: PairCounts, weighting: BlockWeighting, weights: Floats) -> Block:
        """One block of the pairs as the model takes it."""
        if counts.n_terms != len(self.terms):
            raise StoreError(
                f"the model's block {weighting.name} is over {len(self.terms)} terms and the pairs' over "
                f"{counts.n_terms}: count the pairs over the basis that the model was trained with"
            )
        features = weighting.apply(counts.block(weighting.name).compact())
        if features.rows.shape[1] != len(weights):
            raise StoreError(
                f"the model's block {weighting.name} has {len(weights)} features and the pairs' has "
                f"{features.rows.shape[1]}: give it pairs that were counted together with its own"
            )
        return features


def terms_agree(model: LinearModel, terms: Sequence[str]) -> bool:
    """Whether pairs counted over ``terms`` can be given to ``model``."""
    return tuple(terms) == model.terms
