"""What a model was trained on, kept for explanations: words, pairs, their features and dual coefficients.

The decision value of an SVM is a sum over its training pairs i. Their coefficients β_i add up to 0 (the bias is free),
so the sum stays the same when every block's rows are centred, and what all rows share goes into the bias:

    f(x) = b′ + Σ_blocks Σ_i β_i ⟨x_i − μ, x − μ⟩,   b′ = intercept + Σ_blocks w·μ,   μ the mean training row

Summed over the pairs of a training word, or for one training pair, a term says how much a new pair is like it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from bagpack.learn.design import Features
    from bagpack.learn.types import Csr, Floats, Index
    from bagpack.vectors.counts import Pair

FILE = "training.npz"
TABLES = ("v1", "v2", "v12")  # blocks whose training rows are kept


@dataclass(frozen=True, eq=False)
class TrainingPairs:
    """The training pairs of a model.

    Attributes
    ----------
    names
        The training words.
    w1, w2
        The numbers of each pair's words.
    coef
        Dual coefficients, pairs × outputs.
    rows
        Features by block, in single precision: of v1 and v2 a row for each word, of v12 a row for each pair.
    means
        The mean training row of every block.
    """

    names: tuple[str, ...]
    w1: Index
    w2: Index
    coef: Floats
    rows: Mapping[str, Csr]
    means: Mapping[str, Floats]

    @classmethod
    def of(cls, features: Features, coef: Floats, pairs: Sequence[Pair]) -> TrainingPairs:
        """Those of a model that was just fitted."""
        n = len(features)
        names = [""] * (1 + int(max(features.w1.max(), features.w2.max())))
        for at, (one, two) in enumerate(pairs):
            names[features.w1[at]] = names[features.w1[at]] or one
            names[features.w2[at]] = names[features.w2[at]] or two
        means = features.split(features.combine(np.full((n, 1), 1 / n)))
        rows = {"v1": _single(features.first), "v12": None}
        rows["v2"] = rows["v1"] if features.second is features.first else _single(features.second)
        if features.of_pair is not None:
            rows["v12"] = _single(features.of_pair[:, : features.blocks["v12"]])
        kept = {block: table for block, table in rows.items() if table is not None}
        of_blocks = {block: mean[:, 0] for block, mean in means.items()}
        return cls(tuple(names), features.w1, features.w2, coef, kept, of_blocks)

    def pair_name(self, pair: int) -> str:
        """The two words of a pair."""
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
        n = self.rows[block].shape[0]
        spread = sparse.csr_array(
            (np.ones(len(numbers)), (numbers, np.arange(len(numbers)))), shape=(n, len(numbers))
        )
        return np.asarray(spread @ self.coef)

    def save(self, path: Path) -> None:
        """Write the file."""
        arrays: dict[str, Any] = {f"mean {block}": mean for block, mean in self.means.items()}
        for block, table in self.rows.items():
            if block == "v2" and table is self.rows.get("v1"):
                continue
            for part in ("indptr", "indices", "data"):
                arrays[f"{block} {part}"] = getattr(table, part)
            arrays[f"{block} shape"] = np.array(table.shape)
        names = np.frombuffer("\n".join(self.names).encode(), np.uint8)
        with open(path, "wb") as out:
            np.savez(out, names=names, w1=self.w1, w2=self.w2, coef=self.coef, **arrays)

    @classmethod
    def open(cls, path: Path, widths: Mapping[str, int], outputs: int) -> TrainingPairs:
        """Read the file; anything in it that does not fit is a ValueError or KeyError."""
        with np.load(path, allow_pickle=False) as stored:
            names = tuple(stored["names"].tobytes().decode().split("\n"))
            w1, w2 = (stored[name].astype(np.int64) for name in ("w1", "w2"))
            coef = stored["coef"].astype(np.float64)
            if coef.shape != (len(w1), outputs) or w1.shape != w2.shape or not np.isfinite(coef).all():
                raise ValueError("coefficients of another shape than the training pairs")
            if len(w1) and not 0 <= min(w1.min(), w2.min()) <= max(w1.max(), w2.max()) < len(names):
                raise ValueError("a training word without a name")
            means = {block: stored[f"mean {block}"].astype(np.float64) for block in widths}
            rows: dict[str, Any] = {}
            for block in TABLES:
                if f"{block} data" in stored:
                    parts: Any = tuple(stored[f"{block} {part}"] for part in ("data", "indices", "indptr"))
                    shape: Any = tuple(int(size) for size in stored[f"{block} shape"])
                    rows[block] = sparse.csr_array(parts, shape=shape)
                    rows[block].check_format(full_check=True)
        if "v1" in rows:
            rows.setdefault("v2", rows["v1"])
        if rows.keys() != set(TABLES) & widths.keys():
            raise ValueError("other blocks than the model")
        for block, table in rows.items():
            lines = len(w1) if block == "v12" else len(names)
            if table.shape != (lines, widths[block]) or means[block].shape != (widths[block],):
                raise ValueError(f"rows of {block} of another shape than the model's")
        return cls(names, w1, w2, coef, rows, means)


def _single(rows: Csr | None) -> Csr | None:
    return None if rows is None else sparse.csr_array(rows.astype(np.float32))
