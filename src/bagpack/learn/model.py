"""A fitted linear model: weights per named feature, how its pairs were counted, and where."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bagpack.basis import Basis
from bagpack.contexts.source import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.errors import StoreError, UsageError, did_you_mean
from bagpack.learn.block_weighting import BlockWeighting, design_blocks
from bagpack.learn.calibration import Calibration, Threshold, answer_probability
from bagpack.learn.design import ProductBlock, RowBlock, score_blocks
from bagpack.learn.features import PLAIN, block_of, blocks_of_matrix, check_blocks, evidence
from bagpack.learn.targets import Kind, chosen_labels, decode
from bagpack.names import block_features
from bagpack.sources import find_store, open_source
from bagpack.vectors.blocks import Block
from bagpack.vectors.counted import count_remembered
from bagpack.vectors.matrix import BlockMatrix, Pair
from bagpack.vectors.pairs import as_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bagpack.learn.types import Answers, Bools, Floats, Ints, Label, Matrix, Pairs
    from bagpack.learn.weighting import Step
    from bagpack.parallel import Progress


@dataclass(frozen=True)
class Contributions:
    """The parts of a decision: ``decision = intercept + values.sum()``, one value per non-zero feature."""

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


@dataclass(frozen=True, eq=False)
class LinearModel:
    """f(x) = intercept + Σ_j w_j (x_j − z_j), x the scaled features and z those of an all-zero vector.

    Only what was observed contributes: ``intercept`` is the decision value of a pair without any observation. In terms
    of the unshifted x the bias is ``plain_intercept`` = intercept − Σ w_j z_j.

    Methods take pairs of words, which are counted in the corpus that the model was trained on, or a `BlockMatrix`.

    Parameters
    ----------
    weightings, weights
        Per block, its fitted steps and its weights (columns × outputs). Two classes have one output, for the second
        class; otherwise there is one per class; ratings have one.
    basis, counting, source_path, source_hash
        What the pairs are counted over, how, and in which corpus; None and empty for a model of a plain matrix.
    calibration, threshold
        Probabilities from decision values, and the probability below which there is no answer; None if not fitted.
    calibrator
        Makes the calibrated model when probabilities are first asked for; see `calibrated`.
    trained
        Hashes of the training pairs, ascending; see `trained_on`.
    place
        Where it was read from; None for one that was just fitted.
    """

    kind: Kind
    classes: tuple[Any, ...]
    condition: str
    preset: str
    weightings: tuple[BlockWeighting, ...]
    weights: tuple[Floats, ...]
    intercept: Floats
    basis: Basis | None = None
    counting: CountSettings | None = None
    source_path: str = ""
    source_hash: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)
    as_sets: bool = False
    calibration: Calibration | None = None
    threshold: Threshold | None = None
    calibrator: Callable[[], LinearModel] | None = None
    trained: NDArray[np.uint64] | None = None
    place: Path | None = None

    # Where new pairs are counted --------------------------------------------------------------------------------

    @cached_property
    def source(self) -> ContextSource:
        """The corpus that the model was trained on, opened."""
        return self.open_source()

    def open_source(self, store: str | Path | None = None, any_store: bool = False) -> ContextSource:
        """The corpus that the model was trained on, or ``store``, which must be the same one unless ``any_store``."""
        if not store and not self.source_path:
            raise StoreError("the model does not know which corpus it was trained on; name one with --store")
        place = store or find_store(self.source_path, self.source_hash, self.place)
        if place is None:
            raise StoreError(
                f"the model was trained on {self.source_path}, which was found neither from {Path.cwd()} nor next to "
                f"the model; give its path with --store (in Python: model.at(store))"
            )
        source = open_source(place)
        if source.content_hash != self.source_hash and not any_store:
            raise StoreError(
                f"the model was trained on another store than {place}: on {self.source_path or 'an unknown one'} "
                f"(content {self.source_hash[:12]}, not {source.content_hash[:12]}); name that one, or add --any-store "
                f"to use {place} anyway"
            )
        return source

    def at(self, store: str | Path, any_store: bool = False) -> LinearModel:
        """The same model, counting new pairs in a store that moved."""
        model = replace(self)
        model.__dict__["source"] = self.open_source(store, any_store)
        return model

    def count(
        self, pairs: Iterable[Pair], source: ContextSource | None = None, n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> BlockMatrix:  # fmt: skip
        """The pairs, counted the way the training pairs were."""
        if self.basis is None or self.counting is None:
            raise StoreError(
                "the model was trained on a plain matrix, so it cannot count pairs; pass it a matrix"
            )
        source = self.source if source is None else source
        return count_remembered(source, as_pairs(pairs), self.basis, self.counting, n_jobs, progress)

    def _matrix(self, X: Pairs | BlockMatrix) -> Matrix:
        if sparse.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "iuf"):
            return X
        return self.count(X)

    # Features ---------------------------------------------------------------------------------------------------

    @property
    def terms(self) -> tuple[str, ...]:
        """The basis terms."""
        return () if self.basis is None else tuple(self.basis.terms)

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
        if self.block_names == (PLAIN,):
            return [f"{PLAIN}{column}" for column in range(len(self.weights[0]))]
        return [name for block in self.block_names for name in block_features(block, self.terms)]

    def weight_matrix(self) -> Floats:
        """Weights, outputs × features."""
        return np.vstack(self.weights).T

    def strongest(self, label: Label = None, n: int = 20) -> list[tuple[str, float]]:
        """The n features with the largest weight for ``label``."""
        output, sign = self.output_of(label)
        weights = sign * np.concatenate([w[:, output] for w in self.weights])
        order = np.argsort(-weights, kind="stable")[:n]
        names = self.feature_names()
        return [(names[j], float(weights[j])) for j in order]

    # Predictions ------------------------------------------------------------------------------------------------

    def decisions(self, X: Pairs | BlockMatrix) -> Floats:
        """Decision values (or predicted ratings), pairs × outputs."""
        matrix = self._matrix(X)
        self._check(matrix)
        if not matrix.shape[0]:
            return np.zeros((0, len(self.intercept)))
        return self.decide(self.weighted(matrix))

    def weighted(self, matrix: Matrix) -> list[RowBlock | ProductBlock]:
        """The features of a matrix that is not empty, block by block."""
        blocks = blocks_of_matrix(matrix, self.block_names)
        memory: list[tuple[Step, Block, Block]] = []
        return design_blocks([own.apply(blocks[own.name], memory) for own in self.weightings])

    def decide(self, blocks: Sequence[RowBlock | ProductBlock]) -> Floats:
        """Decision values from features; see `weighted`."""
        return self.intercept + score_blocks(blocks, self.weights)

    def predict(self, X: Pairs | BlockMatrix) -> Answers:
        """Labels (an array, or a list of sets for several labels per pair) or ratings."""
        return self.decode(self.decisions(X))

    def decode(self, decisions: Floats) -> Answers:
        """Labels or ratings from decision values."""
        decoded = decode(self.kind, decisions)
        if self.kind == "rating" or (self.kind == "multilabel" and not self.as_sets):
            return decoded.astype(int) if self.kind == "multilabel" else decoded
        if self.kind == "multilabel":
            return [{self.classes[k] for k in np.flatnonzero(row)} for row in decoded]
        return np.array(self.classes)[decoded]

    def predict_proba(self, X: Pairs | BlockMatrix) -> Floats:
        """Calibrated probability of each class, pairs × classes.

        Labels are chosen by decision values, so the most probable class can be another than the one `predict` gives.
        """
        return self.probabilities(self.decisions(X))

    def probabilities(self, decisions: Floats) -> Floats:
        """Calibrated probability of each class from decision values."""
        if self.kind == "rating":
            raise UsageError("the model predicts ratings, which have no probabilities")
        if self.calibrated.calibration is None:
            raise UsageError(
                "the model has no probabilities: they are calibrated on held-out training pairs, for which at least "
                "two pairs of a label are needed"
            )
        return self.calibrated.calibration.probabilities(decisions)

    def answer_probabilities(self, decisions: Floats) -> Floats:
        """Calibrated probability of each pair's label (or whole set of labels), from decision values."""
        return answer_probability(
            self.probabilities(decisions), chosen_labels(self.kind, decisions), self.kind
        )

    @cached_property
    def calibrated(self) -> LinearModel:
        """The model with probabilities, calibrated when they are first needed: that takes five times as long as `fit`.

        The model itself where it cannot be calibrated.
        """
        if self.calibration is not None or self.calibrator is None:
            return self
        found = self.calibrator()
        return replace(self, calibration=found.calibration, threshold=found.threshold, calibrator=None)

    def answers(self, X: Pairs | BlockMatrix) -> list[Any]:
        """Labels (or sets of labels), or None for *none of these*.

        That is the answer for a pair with a word that the corpus does not have, and, if the model has a threshold,
        where the probability of the label (or of the whole set) is below it.
        """
        matrix = self._matrix(X)
        decisions = self.decisions(matrix)
        given = self.answered(matrix, decisions)
        return [answer if one else None for answer, one in zip(self.decode(decisions), given, strict=True)]

    def answered(self, matrix: Matrix, decisions: Floats) -> Bools:
        """Whether each pair gets an answer; see `answers`."""
        known = ~matrix.unknown if isinstance(matrix, BlockMatrix) else np.ones(len(decisions), np.bool_)
        if self.threshold is None or self.kind == "rating":
            return known
        return known & self.threshold.accepts(self.answer_probabilities(decisions))

    def label_scores(self, X: Pairs | BlockMatrix) -> Floats:
        """One decision value per class, also for two classes (the first class's is the negated one)."""
        return self.scores_of(self.decisions(X))

    def scores_of(self, decisions: Floats) -> Floats:
        """One value per class from decision values."""
        return np.hstack([-decisions, decisions]) if self.kind == "binary" else decisions

    def explain(self, pair: Pair, label: Label = None) -> Contributions:
        """The contribution of every feature to the decision about ``pair``, for ``label`` or the predicted label."""
        return self.contributions([pair], 0, label)

    def contributions(self, X: Pairs | BlockMatrix, row: int = 0, label: Label = None) -> Contributions:
        """Contribution of every feature to the decision about row ``row``, for ``label`` or the predicted label."""
        matrix = self._matrix(X)
        self._check(matrix)
        one = matrix[[row]]
        if label is None and self.kind != "rating":
            label = self.classes[int(np.argmax(self.label_scores(one)[0]))]
        output, sign = self.output_of(label)
        names: list[str] = []
        raw: list[Ints] = []
        values: list[Floats] = []
        for weighting, weights in zip(self.weightings, self.weights, strict=True):
            features = weighting.apply(block_of(one, weighting.name).compact()).expanded()
            if weighting.name == PLAIN:
                names += [f"{PLAIN}{j}" for j in features.indices]
                raw.append(sparse.csr_array(one).toarray()[0, features.indices])
            else:
                block_names = block_features(weighting.name, self.terms)
                names += [block_names[j] for j in features.indices]
                raw.append(evidence(one, weighting.name, features.indices))
            values.append(sign * weights[features.indices, output] * features.data)
        parts = np.concatenate(values)
        intercept = sign * float(self.intercept[output])
        decision = intercept + float(parts.sum())
        return Contributions(label, decision, intercept, tuple(names), np.concatenate(raw), parts)

    def trained_on(self, pairs: Iterable[Pair]) -> Bools:
        """Whether each pair, as it is written, was among the training pairs."""
        hashes = pair_hashes(pairs)
        return np.zeros(len(hashes), np.bool_) if self.trained is None else np.isin(hashes, self.trained)

    def label_named(self, name: Label) -> Label:
        """The label of this name, or an error that lists all."""
        labels = {str(label): label for label in self.classes}
        if str(name) not in labels:
            known = ", ".join(labels) or "none, since it predicts ratings"
            raise UsageError(
                f"the model has no label {name!r}; {did_you_mean(str(name), labels)}it has {known}"
            )
        return labels[str(name)]

    def output_of(self, label: Label) -> tuple[int, float]:
        """Output column and sign for a label; None is the only output, where there is only one."""
        if label is None:
            if len(self.intercept) == 1:
                return 0, 1.0
            label = self.classes[0]
        k = self.classes.index(self.label_named(label))
        return (0, 1.0 if k == 1 else -1.0) if self.kind == "binary" else (k, 1.0)

    def _check(self, matrix: Matrix) -> None:
        """Raise unless X has what the model weighs, over the same terms."""
        if isinstance(matrix, BlockMatrix) != (self.basis is not None):
            plain, blocks = "a plain matrix", "a BlockMatrix"
            own, given = (plain, blocks) if self.basis is None else (blocks, plain)
            raise UsageError(f"the model was trained on {own}, and X is {given}")
        if self.basis is None:
            if matrix.shape[1] != len(self.weights[0]):
                raise UsageError(
                    f"X has {matrix.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{len(self.weights[0])} features as input"
                )
            return
        check_blocks(matrix, self.block_names, "the model")
        if matrix.basis != self.basis:
            raise StoreError(
                f"the model is over {len(self.basis):,} terms and the pairs were counted over {len(matrix.basis):,} "
                f"others: count the pairs over the basis that the model was trained with (model.count(pairs))"
            )
        if "w1" in self.block_names and matrix.word_counts.shape[0] != len(self.weights[0]):
            raise UsageError("a words-only model answers only pairs of the matrix that it was trained on")


def counted_with(matrix: Matrix) -> dict[str, Any]:
    """What a model keeps of the matrix that it was trained on."""
    if not isinstance(matrix, BlockMatrix):
        return {}
    return {
        "basis": matrix.basis,
        "counting": matrix.settings,
        "source_path": matrix.source_path,
        "source_hash": matrix.source_hash,
        "place": matrix.place,
    }


def pair_hashes(pairs: Iterable[Pair]) -> NDArray[np.uint64]:
    """A number for each pair, by which a model recognises its training pairs without listing them."""
    texts = (f"{w1}\t{w2}".encode() for w1, w2 in pairs)
    found = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(found, "<u8").astype(np.uint64)
