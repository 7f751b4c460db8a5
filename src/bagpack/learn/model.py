"""A fitted linear model: weights per named feature, how its pairs were counted, and where."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bagpack.basis import Basis
from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.errors import StoreError, UsageError, did_you_mean
from bagpack.learn.calibration import Threshold, probabilities_of
from bagpack.learn.features import Learned, Preset, sum_by
from bagpack.learn.targets import Kind, chosen_labels, decode, kind_of
from bagpack.names import COSINE, block_features
from bagpack.sources import find_store, open_source
from bagpack.vectors.counts import KEY_SEPARATOR, Pair, PairCounts, as_pairs, count_cached

if TYPE_CHECKING:
    from bagpack.arrays import U64, Bools, Csr, Floats, Index
    from bagpack.learn.features import Features


@dataclass(frozen=True, eq=False)
class TrainingPairs:
    """What a model was trained on, kept for explanations.

    The decision value of an SVM is a sum over its training pairs i. Their coefficients β_i add up to 0 (the bias is
    free), so the sum stays the same when every block's rows are centred, and what all rows share goes into the bias:

        f(x) = b′ + Σ_blocks Σ_i β_i ⟨x_i − μ, x − μ⟩,   b′ = intercept + Σ_blocks w·μ,   μ the mean training row

    Summed over the pairs of a training word, or for one training pair, a term says how much a new pair is like it.
    """

    names: tuple[str, ...]  # of the training words
    w1: Index  # the number of each pair's first word
    w2: Index
    coef: Floats  # dual coefficients, pairs × outputs
    rows: Mapping[str, Csr]  # single precision: of v1 and v2 a row for each word, of v12 one for each pair
    means: Mapping[str, Floats]  # the mean training row of every block

    @classmethod
    def of(cls, features: Features, coef: Floats, pairs: Sequence[Pair]) -> TrainingPairs:
        n = len(features)
        names = [""] * (1 + int(max(features.w1.max(), features.w2.max())))
        for at, (one, two) in enumerate(pairs):
            names[features.w1[at]] = names[features.w1[at]] or one
            names[features.w2[at]] = names[features.w2[at]] or two
        means = features.split(features.combine(np.full((n, 1), 1 / n)))
        tables = {"v1": features.first, "v2": features.second}
        if "v12" in features.blocks:
            before = 1 if COSINE in features.blocks else 0
            tables["v12"] = features.own[:, before : before + features.blocks["v12"]]
        # v1 and v2 of preset `modern` are one table.
        single = {id(table): sparse.csr_array(table.astype(np.float32)) for table in tables.values()}
        rows = {block: single[id(table)] for block, table in tables.items() if block in features.blocks}
        of_blocks = {block: mean[:, 0] for block, mean in means.items()}
        return cls(tuple(names), features.w1, features.w2, coef, rows, of_blocks)

    def pair_name(self, pair: int) -> str:
        return f"{self.names[self.w1[pair]]} – {self.names[self.w2[pair]]}"

    def likeness(self, block: str, row: Floats) -> Floats:
        """⟨x_i − μ, x − μ⟩ of a new pair's row x with each training row: of words for v1 and v2, of pairs for v12."""
        mean = self.means[block]
        centred = row - mean
        found = self.rows[block] @ centred.astype(np.float32)
        return np.asarray(found, np.float64) - float(mean @ centred)

    def coefficients(self, block: str) -> Floats:
        """Σ β_i of each training word, or β_i of each training pair; rows of the block × outputs."""
        if block == "v12":
            return self.coef
        numbers = self.w1 if block == "v1" else self.w2
        return sum_by(numbers, self.coef, self.rows[block].shape[0])


@dataclass(frozen=True, eq=False)
class LinearModel:
    """f(x) = intercept + Σ_j w_j (x_j − z_j), x the scaled features and z those of an all-zero vector.

    Only what was observed contributes: ``intercept`` is the decision value of a pair without any observation.

    Methods take pairs of words, which are counted in the corpus that the model was trained on, or `PairCounts`.
    """

    classes: tuple[Any, ...]  # none of ratings
    condition: str
    preset: Preset
    weights: Mapping[str, Floats]  # by block, columns × outputs; two classes have one output, for the second
    intercept: Floats
    basis: Basis
    counting: CountSettings
    trained: U64  # hashes of the training pairs, ascending
    kept: TrainingPairs | Callable[[], TrainingPairs]  # the training pairs, or what reads them
    learned: Learned = field(default_factory=dict)  # by the preset, from the training pairs
    source_path: str = ""
    source_hash: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)
    calibration: Floats | None = None  # slope and intercept of each output; see `probabilities_of`
    threshold: Threshold | None = None
    calibrator: Callable[[], LinearModel] | None = None  # makes the calibrated model; see `calibrated`
    place: Path | None = None  # where it was read from

    @property
    def kind(self) -> Kind:
        return kind_of(self.classes)

    @cached_property
    def training(self) -> TrainingPairs:
        """The training pairs, for explanations."""
        return self.kept() if callable(self.kept) else self.kept

    @cached_property
    def source(self) -> ContextSource:
        return self.open_source()

    def open_source(self, store: str | Path | None = None, any_store: bool = False) -> ContextSource:
        """The corpus that the model was trained on, or ``store``, which must be the same one unless ``any_store``."""
        place = store or (
            find_store(self.source_path, self.source_hash, self.place) if self.source_path else None
        )
        if place is None:
            raise StoreError(
                f"the model was trained on {self.source_path or 'an unnamed corpus'}, which was found neither from "
                f"{Path.cwd()} nor next to the model; give its path with --store (in Python: model.open_source(store), "
                f"for model.count)"
            )
        source = open_source(place)
        if source.content_hash != self.source_hash and not any_store:
            raise StoreError(
                f"the model was trained on another store than {place}: on {self.source_path or 'an unknown one'} "
                f"(content {self.source_hash[:12]}, not {source.content_hash[:12]}); name that one, or add --any-store "
                f"to use {place} anyway"
            )
        return source

    def count(self, pairs: Iterable[Pair], source: ContextSource | None = None) -> PairCounts:
        return count_cached(source or self.source, as_pairs(pairs), self.basis, self.counting)

    def _counts(self, X: Any) -> PairCounts:
        counts = X if isinstance(X, PairCounts) else self.count(X)
        if counts.basis != self.basis:
            raise StoreError(
                f"the model is over {len(self.basis):,} terms and the pairs were counted over {len(counts.basis):,} "
                f"others: count the pairs over the basis that the model was trained with (model.count(pairs))"
            )
        return counts

    def feature_names(self) -> list[str]:
        """Names of the features, in the order of `weight_matrix`."""
        return [name for block in self.weights for name in block_features(block, self.basis.terms)]

    def weight_matrix(self) -> Floats:
        return np.vstack(list(self.weights.values())).T

    def strongest(self, label: Any = None, n: int = 20) -> list[tuple[str, float]]:
        """The n features with the largest weight for ``label``."""
        output, sign = self.output_of(label)
        weights = sign * self.weight_matrix()[output]
        order = np.argsort(-weights, kind="stable")[:n]
        names = self.feature_names()
        return [(names[j], float(weights[j])) for j in order]

    def decisions(self, X: Any) -> Floats:
        """Decision values (or predicted ratings), pairs × outputs."""
        counts = self._counts(X)
        if not len(counts):
            return np.zeros((0, len(self.intercept)))
        return self.decide(self.features(counts))

    def features(self, counts: PairCounts) -> Features:
        """The features of pairs, of which there must be at least one."""
        return self.preset.features(self.learned, counts, self.condition)

    def decide(self, features: Features) -> Floats:
        return self.intercept + features.decisions(self.weight_matrix().T)

    def predict(self, X: Any) -> Any:
        return self.decode(self.decisions(X))

    def decode(self, decisions: Floats) -> Any:
        decoded = decode(self.kind, decisions)
        return decoded if self.kind == "rating" else np.array(self.classes)[decoded]

    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probability of each class, pairs × classes; the most probable may be another than `predict`'s."""
        return self.probabilities(self.decisions(X))

    def probabilities(self, decisions: Floats) -> Floats:
        if self.kind == "rating":
            raise UsageError("the model predicts ratings, which have no probabilities")
        if self.calibrated.calibration is None:
            raise UsageError(
                "the model has no probabilities: to calibrate them, two pairs of a label are needed"
            )
        return probabilities_of(decisions, self.calibrated.calibration)

    def answer_probabilities(self, decisions: Floats) -> Floats:
        """Calibrated probability of each pair's label; another class can be slightly more probable."""
        return self.probabilities(decisions)[chosen_labels(self.kind, decisions)]

    @cached_property
    def calibrated(self) -> LinearModel:
        """The model with probabilities, if it can have them: made when first needed, in five times `fit`'s time."""
        if self.calibration is not None or self.calibrator is None:
            return self
        return self.calibrator()

    def answered(self, counts: PairCounts, decisions: Floats) -> Bools:
        """Whether the corpus knows both words, and the label's probability reaches the model's threshold."""
        known = ~counts.unknown
        if self.threshold is None or self.kind == "rating":
            return known
        return known & self.threshold.accepts(self.answer_probabilities(decisions))

    def scores_of(self, decisions: Floats) -> Floats:
        """One decision value per class, also for two classes (the first class's is the negated one)."""
        return np.hstack([-decisions, decisions]) if self.kind == "binary" else decisions

    def trained_on(self, counts: PairCounts) -> Bools:
        """Whether each pair, in any form of its words with the same lemmas, was a training pair."""
        return np.isin(pair_hashes(counts), self.trained)

    def label_named(self, name: Any) -> Any:
        """The label of this name, or an error that lists all."""
        labels = {str(label): label for label in self.classes}
        if str(name) not in labels:
            known = ", ".join(labels) or "none, since it predicts ratings"
            raise UsageError(
                f"the model has no label {name!r}; {did_you_mean(str(name), labels)}it has {known}"
            )
        return labels[str(name)]

    def output_of(self, label: Any) -> tuple[int, float]:
        """Output column and sign for a label; None is the only output, where there is only one."""
        if label is None:
            if len(self.intercept) == 1:
                return 0, 1.0
            label = self.classes[0]
        k = self.classes.index(self.label_named(label))
        return (0, 1.0 if k == 1 else -1.0) if self.kind == "binary" else (k, 1.0)


def pair_hashes(counts: PairCounts) -> U64:
    """A number for each pair, by which a model recognises its training pairs without listing them.

    It is that of the words' keys in the corpus without parts of speech, so that *cat/N – animals* and *cat – animal*
    are the same pair; of an unknown word, that of the word itself.
    """
    found = zip(counts.targets, counts.names, strict=True)
    names = [KEY_SEPARATOR.join(target.words).encode() if target else name for target, name in found]
    pairs = (f"{names[one]}\t{names[two]}".encode() for one, two in counts.rows.tolist())
    digests = b"".join(hashlib.blake2b(pair, digest_size=8).digest() for pair in pairs)
    return np.frombuffer(digests, "<u8").astype(np.uint64)
