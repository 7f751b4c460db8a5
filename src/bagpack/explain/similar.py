"""Pairs in the most similar relation: cosines of v1, v2 and v12, and the shared contexts that make them.

A count of the term T becomes ln(1 + count) · ln(N / n(T)), n(T) of the corpus's N tokens being T, and each block of a
pair gets unit length. The similarity in a block is then the cosine; all together it is their weighted mean,
`WEIGHTS`. A block in which one of the two pairs has nothing counts as 0: what was never seen is no evidence of
likeness. A similarity does not depend on what else is on the list. docs/explanations.md says why these, with the
measurement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.basis import Basis, BasisSize
from bagpack.contexts.distribute import Csr
from bagpack.contexts.source import ContextSource, elsewhere
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.corpus import Corpus
from bagpack.errors import InputError
from bagpack.explain.collocates import background_of
from bagpack.learn.association import unit_length
from bagpack.names import BLOCKS, feature_at
from bagpack.parallel import Progress
from bagpack.sources import as_source
from bagpack.vectors.matrix import BlockMatrix, Pair
from bagpack.wording import say_elsewhere, say_feature

Floats = NDArray[np.float64]

WEIGHTS = {"v1": 0.25, "v2": 0.25, "v12": 0.5}  # the words as much as the two together
ALL = "all"


@dataclass(frozen=True)
class Reason:
    """A context that two pairs share: in words, its counts with either pair, and its share of the similarity."""

    feature: str
    words: str
    count: int
    other_count: int
    share: float


@dataclass(frozen=True)
class SimilarPair:
    """A pair, how similar it is, and why."""

    w1: str
    w2: str
    similarity: float
    blocks: dict[str, float]
    together: int
    reasons: list[Reason]


@dataclass(frozen=True)
class Similar:
    """The most similar pairs by each block and all together, best first."""

    w1: str
    w2: str
    candidates: int
    together: int
    unknown: list[str]
    ranked: dict[str, list[SimilarPair]]  # all, v1, v2, v12
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def similar_pairs(
    source: ContextSource | Corpus, pair: Pair, among: Iterable[Pair], *, top: int = 10, reasons: int = 4,
    b: BasisSize = 1500, basis: Basis | None = None, settings: CountSettings | None = None, n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Similar:  # fmt: skip
    """The pairs of a list with the most similar relation to `pair`; `find_pairs` searches the whole corpus.

    Parameters
    ----------
    among
        The pairs to choose from.
    """
    source = as_source(source)
    settings = settings or CountSettings()
    candidates = [other for other in dict.fromkeys((str(w1), str(w2)) for w1, w2 in among) if other != pair]
    if not candidates:
        raise InputError(
            f"there is no other pair than {pair[0]} {pair[1]} to compare with; add some to the list"
        )
    basis = basis or source.pick_basis(b, n_jobs)
    matrix = BlockMatrix.count(source, [pair, *candidates], basis, settings, n_jobs, progress)
    found = rank_similar(matrix, background_of(source).tokens, top, reasons)
    warnings = [say_elsewhere(**asdict(item)) for item in elsewhere(source, pair)]
    return replace(found, notes=[*warnings, *found.notes])


def surprisal(matrix: BlockMatrix, tokens: int) -> Floats | None:
    """ln(N / n(T)) of each term; None if the basis does not say how often its terms occur."""
    counts = matrix.basis.frequencies
    if counts is None or not (counts > 0).all():
        return None
    weights: Floats = np.log(max(tokens, counts.max() + 1) / counts)
    return weights


def weighted(counts: Csr, term_weights: Floats | None) -> Csr:
    """ln(1 + count) times the term's weight, each row of unit length; all-zero rows are unchanged."""
    rows = counts.astype(np.float64)
    rows.data = np.log1p(rows.data)
    if term_weights is not None:
        rows.data *= term_weights[rows.indices % term_weights.size]
    return unit_length(rows)


def rank_similar(matrix: BlockMatrix, tokens: int, top: int, reasons: int) -> Similar:
    """Rank all rows of a matrix by their likeness to the first; `tokens` is the corpus's size."""
    w1, w2 = matrix.pairs[0]
    term_weights = surprisal(matrix, tokens)
    raw = {name: matrix.block(name).tocsr() for name in BLOCKS}
    vectors = {name: weighted(rows, term_weights) for name, rows in raw.items()}
    cosines: dict[str, Floats] = {
        name: np.asarray((rows @ rows[[0]].T).todense()).ravel() for name, rows in vectors.items()
    }
    together = sum(WEIGHTS[name] * cosines[name] for name in BLOCKS)
    scores: dict[str, Floats] = {ALL: np.asarray(together), **cosines}
    seen = matrix.seen
    ranked = {}
    for kind, values in scores.items():
        order = 1 + np.argsort(-values[1:], kind="stable")
        weights = WEIGHTS if kind == ALL else {kind: 1.0}
        ranked[kind] = [
            SimilarPair(
                matrix.pairs[row][0], matrix.pairs[row][1], round(float(values[row]), 6),
                {name: round(float(cosines[name][row]), 6) for name in BLOCKS}, int(seen[row]),
                _reasons(matrix, raw, vectors, weights, row, reasons),
            )
            for row in order[:top].tolist() if values[row] > 0
        ]  # fmt: skip
    return Similar(
        w1, w2, len(matrix) - 1, int(seen[0]), [w for w in (w1, w2) if matrix.resolved[w] is None],
        ranked, _notes(matrix, seen, term_weights is None),
    )  # fmt: skip


def _notes(matrix: BlockMatrix, seen: NDArray[np.int64], unweighted: bool) -> list[str]:
    notes = []
    if unweighted:
        notes.append("the basis does not say how often its terms occur, so they all weigh the same")
    if not seen[0]:
        notes.append("the pair itself is never seen together, so v12 says nothing of it")
    never = int((seen[1:] == 0).sum())
    if never:
        of = f"{never:,} of {len(matrix) - 1:,} pairs {'is' if never == 1 else 'are'}"
        notes.append(f"{of} never seen together: {'its' if never == 1 else 'their'} v12 counts as 0")
    unknown = [word for word in matrix.unknown_words if word not in matrix.pairs[0]]
    if unknown:
        many = "1 word is" if len(unknown) == 1 else f"{len(unknown):,} words are"
        notes.append(f"{many} unknown to the corpus: {', '.join(unknown[:5])}"
                     + (" …" if len(unknown) > 5 else ""))  # fmt: skip
    return notes


def _reasons(
    matrix: BlockMatrix,
    raw: dict[str, Csr],
    vectors: dict[str, Csr],
    weights: dict[str, float],
    row: int,
    most: int,
) -> list[Reason]:
    """The shared features that give most of the similarity; their shares are of the whole of it."""
    w1, w2 = matrix.pairs[0]
    parts: list[tuple[float, str, int]] = []
    total = 0.0
    for name, weight in weights.items():
        product = vectors[name][[0]].multiply(vectors[name][[row]]).tocsr()
        total += weight * float(product.sum())
        best = np.argsort(-product.data, kind="stable")[:most]
        parts += [(weight * float(product.data[at]), name, int(product.indices[at])) for at in best.tolist()]
    parts.sort(key=lambda part: -part[0])
    found = []
    terms = matrix.terms
    for value, name, column in parts[:most]:
        if value <= 0:
            continue
        feature = feature_at(name, column, terms)
        found.append(
            Reason(
                feature, say_feature(feature, w1, w2).pattern, int(raw[name][0, column]),
                int(raw[name][row, column]), round(value / total, 4),
            )
        )  # fmt: skip
    return found
