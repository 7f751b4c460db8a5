"""What a rare pair can borrow: the contexts of similar pairs that are seen together.

Words are similar if their contexts are: the cosine of their single-word vectors (log counts and PPMI of unit length)
after the mean over the vocabulary was taken away. Of a pair (w1, w2), the alternates are (w1', w2) and (w1, w2') with
the k words nearest to w1 and to w2; those that are seen together give their v12 counts, times the cosine.

A cosine is kept as a multiple of 2⁻¹⁶. Its products with counts are then exact in double precision and so are their
sums, in whatever order they are added: a pair borrows the same to the last bit alone or among thousands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.basis import Basis
from bagpack.contexts.counting import Csr
from bagpack.contexts.source import ContextSource, CorpusSource
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.corpus import Corpus
from bagpack.errors import UsageError
from bagpack.learn.annex import turned
from bagpack.learn.association import LogPpmi, unit_length
from bagpack.parallel import counter, delayed, run_threads
from bagpack.vectors.tables import pair_codes

if TYPE_CHECKING:
    from bagpack.parallel import Progress
    from bagpack.vectors.matrix import PairMatrix

I64 = NDArray[np.int64]
Floats = NDArray[np.float64]

VOCABULARY = 12_000  # words that can be neighbours: the rarer ones have too few contexts to be found similar
COMMONEST = 100  # of the corpus's words are like each other for being in every sentence, and left out
GRAIN = 1 << 16
ROWS_AT_ONCE = 2_000
WORDS_AT_ONCE = 16  # × VOCABULARY cosines
PAIRS_AT_ONCE = 1 << 15


@dataclass(frozen=True)
class Alternate:
    """A similar pair that is seen together: one of its words is the pair's own."""

    w1: Target
    w2: Target
    cosine: float
    seen: int

    def __str__(self) -> str:
        return f"{self.w1} – {self.w2}"


@dataclass(frozen=True)
class Borrowed:
    """What each pair of a matrix borrows, and from which pairs.

    Parameters
    ----------
    rows
        Pairs × 6T: Σ cosine × v12 count over the pair's alternates.
    owners, members, cosines, seen
        The alternates, by pair: whose it is, its two words among `targets`, the cosine, how often it is seen.
    """

    rows: Csr
    targets: Sequence[Target]
    owners: I64
    members: I64
    cosines: Floats
    seen: I64

    def alternates(self, row: int) -> list[Alternate]:
        """Those of one pair, the most similar first."""
        low, high = np.searchsorted(self.owners, [row, row + 1]).tolist()
        found = [
            Alternate(
                self.targets[self.members[i, 0]],
                self.targets[self.members[i, 1]],
                float(self.cosines[i]),
                int(self.seen[i]),
            )
            for i in range(low, high)
        ]
        return sorted(found, key=lambda one: (-one.cosine, one.w1, one.w2))


class Vocabulary:
    """The words that can be neighbours, as vectors around their mean."""

    def __init__(self, targets: Sequence[Target], counts: Csr) -> None:
        self.targets = targets
        self.number = {target: i for i, target in enumerate(targets)}
        # What is to be expected of a term is what these words have of it: a basis may come without counts.
        self._weighting = LogPpmi().fit(counts) if len(targets) else None
        self.rows = self._weighted(counts)
        self.mean = np.asarray(self.rows.sum(axis=0)).ravel() / max(len(targets), 1)
        self.along, self.lengths = self._around(self.rows)

    def _weighted(self, counts: Csr) -> Csr:
        if self._weighting is None:
            return counts
        # Some rows at a time: what is to be expected takes several times the memory of the rows themselves.
        parts = [
            unit_length(self._weighting.transform(counts[start : start + ROWS_AT_ONCE]))
            for start in range(0, counts.shape[0], ROWS_AT_ONCE)
        ]
        return sparse.csr_array(sparse.vstack(parts, format="csr"))

    def _around(self, rows: Csr) -> tuple[Floats, Floats]:
        """Products of rows with the mean, and their lengths once it is taken away; inf for rows of zeros."""
        along = np.asarray(rows @ self.mean)
        squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        lengths = np.sqrt(np.maximum(squares - 2 * along + self.mean @ self.mean, 0.0))
        return along, np.where((squares > 0) & (lengths > 1e-12), lengths, np.inf)

    def nearest(
        self, targets: Sequence[Target], counts: Csr, k: int, n_jobs: int | None = None
    ) -> tuple[I64, I64]:
        """Numbers of the k nearest words of each target, never itself, and their cosines in grains; -1 for none."""
        k = min(k, len(self.targets))
        if not k or not len(targets):
            return np.full((len(targets), k), -1, np.int64), np.zeros((len(targets), k), np.int64)
        # Threads, as all of them look at one vocabulary; each word's products are added in the order of its columns.
        starts = range(0, len(targets), WORDS_AT_ONCE)
        found = run_threads(
            (
                delayed(self._nearest)(
                    targets[start : start + WORDS_AT_ONCE], counts[start : start + WORDS_AT_ONCE], k
                )
                for start in starts
            ),
            n_jobs,
        )
        numbers, grains = zip(*found, strict=True)
        return np.concatenate(numbers), np.concatenate(grains)

    def _nearest(self, targets: Sequence[Target], counts: Csr, k: int) -> tuple[I64, I64]:
        words = self._weighted(counts)
        along, lengths = self._around(words)
        products = self.rows @ np.ascontiguousarray(words.toarray().T)
        products += self.mean @ self.mean - self.along[:, None] - along[None, :]
        products /= self.lengths[:, None] * lengths[None, :]
        grains = np.rint(products.T * GRAIN).astype(np.int64)
        for i, target in enumerate(targets):
            if target in self.number:
                grains[i, self.number[target]] = 0
        # Of equally near words the more frequent: with its number in the key no two are equal.
        size = len(self.targets)
        keys = grains * size + (size - 1 - np.arange(size))
        best = -np.sort(-np.partition(keys, size - k, axis=1)[:, size - k :], axis=1)
        near = best // size
        return np.where(near > 0, size - 1 - best % size, -1), np.maximum(near, 0)


def frequent_targets(corpus: Corpus, most: int = VOCABULARY, commonest: int = COMMONEST) -> list[Target]:
    """The corpus's most frequent alphabetic words but for the very commonest: at most a tenth of them all."""
    lexicon = corpus.lexicon
    found: list[str] = []
    for number in np.argsort(-np.asarray(lexicon.counts), kind="stable").tolist():
        key = lexicon.keys[number]
        if key.isalpha():
            found.append(key)
            if len(found) == most + commonest:
                break
    return [Target((key,)) for key in found[min(commonest, len(found) // 10) :]][:most]


_KEPT: dict[tuple[Any, ...], Vocabulary] = {}  # the last one: counting it takes longer than asking it


def vocabulary_of(
    source: ContextSource, basis: Basis, settings: CountSettings, n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Vocabulary:  # fmt: skip
    """The vocabulary of a store, counted once."""
    if not isinstance(source, CorpusSource):
        raise UsageError(
            f"{source.path} holds only the pairs that were fetched, so there are no similar pairs to borrow from; take "
            "a preset without neighbours, or index a corpus"
        )
    key = (source.content_hash, basis.hash, settings)
    if key not in _KEPT:
        targets = frequent_targets(source.corpus)
        tell = counter(progress, "neighbours", len(targets))
        made = Vocabulary(targets, source.count_words(targets, basis, settings, n_jobs, tell)[0])
        _KEPT.clear()
        _KEPT[key] = made
        return made
    return _KEPT[key]


def borrow(
    source: ContextSource, matrix: PairMatrix, k: int, n_jobs: int | None = None,
    progress: Progress | None = None, vocabulary: Vocabulary | None = None,
) -> Borrowed:  # fmt: skip
    """What each pair of a matrix borrows from its alternates, k per word at most.

    A word that the corpus does not know has no neighbours, and a pair with such a word borrows nothing.
    """
    matrix.check_source(source)
    if vocabulary is None:
        vocabulary = vocabulary_of(source, matrix.basis, matrix.settings, n_jobs, progress)
    targets = [*matrix.words.targets]
    number = dict(matrix.words.number)
    for target in vocabulary.targets:
        if number.setdefault(target, len(targets)) == len(targets):
            targets.append(target)
    place = np.fromiter((number[target] for target in vocabulary.targets), np.int64, len(vocabulary.targets))
    owners, members, grains = _alternates(matrix, vocabulary, place, k, n_jobs)

    codes, distinct = np.unique(pair_codes(members[:, 0], members[:, 1]), return_inverse=True)
    seen = np.zeros(len(codes), np.int64)
    rows: Csr = sparse.csr_array((len(matrix), 6 * len(matrix.basis)), dtype=np.float64)
    smaller_first = members[:, 0] <= members[:, 1]
    for part in _parts(len(codes)):
        asked = [(targets[code >> 32], targets[code & 0xFFFFFFFF]) for code in codes[part].tolist()]
        tell = counter(progress, "similar pairs", len(codes))
        counted = source.count_pairs(asked, matrix.basis, matrix.settings, n_jobs, tell)
        seen[part] = counted.found.sum(axis=1)
        mine = (distinct >= part.start) & (distinct < part.stop)
        for table, wanted in ((counted.rows, smaller_first), (turned(counted.rows), ~smaller_first)):
            own = np.flatnonzero(mine & wanted)
            shares = sparse.csr_array(
                (grains[own] / GRAIN, (owners[own], distinct[own] - part.start)),
                shape=(len(matrix), len(asked)),
            )
            rows = rows + shares @ table
    rows = sparse.csr_array(rows)
    rows.sort_indices()
    kept = np.flatnonzero(seen[distinct] > 0)
    return Borrowed(
        rows, targets, owners[kept], members[kept], grains[kept] / GRAIN, seen[distinct[kept]]
    )  # fmt: skip


def _alternates(
    matrix: PairMatrix, vocabulary: Vocabulary, place: I64, k: int, n_jobs: int | None
) -> tuple[I64, I64, I64]:
    """Owner, two words (by number) and grains of the cosine of all alternates, seen or not, pair by pair."""
    first, second = matrix.word_rows
    pairs = np.flatnonzero((first >= 0) & (second >= 0))
    words, index = np.unique(np.concatenate([first[pairs], second[pairs]]), return_inverse=True)
    near, grains = vocabulary.nearest(
        [matrix.words.targets[i] for i in words.tolist()], matrix.words.rows[words], k, n_jobs
    )
    others = np.where(near >= 0, place[near], -1) if place.size else near
    one, two = index[: pairs.size], index[pairs.size :]
    k = near.shape[1]
    kept_first = np.repeat(first[pairs], k).reshape(-1, k)
    kept_second = np.repeat(second[pairs], k).reshape(-1, k)
    members = np.stack(
        [
            np.concatenate([others[one], kept_first], axis=1).ravel(),
            np.concatenate([kept_second, others[two]], axis=1).ravel(),
        ],
        axis=1,
    )
    found = (members >= 0).all(axis=1) & (members[:, 0] != members[:, 1])
    all_grains = np.concatenate([grains[one], grains[two]], axis=1).ravel()
    return np.repeat(pairs, 2 * k)[found], members[found], all_grains[found]


def _parts(size: int) -> Iterator[slice]:
    for start in range(0, size, PAIRS_AT_ONCE):
        yield slice(start, min(start + PAIRS_AT_ONCE, size))
