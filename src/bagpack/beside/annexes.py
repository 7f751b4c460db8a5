"""Counting what a preset wants beside v1, v2 and v12."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bagpack.basis import Basis, corpus_counts
from bagpack.beside.neighbours import borrow, frequent_targets
from bagpack.contexts.counting import no_rows
from bagpack.contexts.source import ContextSource, CorpusSource, find_store, not_found, open_source
from bagpack.contexts.windows import CountSettings
from bagpack.errors import StoreError, UsageError
from bagpack.learn.annex import BORROWED, CONTENT, WHOLE, Annex, Beside
from bagpack.parallel import counter
from bagpack.vectors.assemble import Part, assemble

if TYPE_CHECKING:
    from bagpack.parallel import Progress
    from bagpack.vectors.matrix import PairMatrix

AROUND = 10  # words on each side of a word where content words are looked for


def count_annexes(
    source: ContextSource, matrix: PairMatrix, beside: Beside, n_jobs: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Annex]:  # fmt: skip
    """The annexes of a matrix's pairs, by name, counted in the source that the matrix came from."""
    matrix.check_source(source)
    found: dict[str, Annex] = {}
    if beside.neighbours:
        found[BORROWED] = Annex(borrow(source, matrix, beside.neighbours, n_jobs, progress).rows)
    if beside.content != 0:
        found[CONTENT] = _content(source, matrix, beside.content, n_jobs, progress)
    if beside.whole != 0:
        found[WHOLE] = _whole(source, matrix, beside.whole, n_jobs, progress)
    return found


def source_of(matrix: PairMatrix) -> ContextSource:
    """The store that a matrix was counted from."""
    found = find_store(matrix.source_path, matrix.source_hash, matrix.place)
    if found is None:
        raise StoreError(
            f"what the preset wants beside the three vectors is counted in the store that the matrix came from, and "
            f"{not_found(matrix.source_path, 'matrix')}; put it back, or take another preset"
        )
    return open_source(found)


def wide_settings(settings: CountSettings) -> CountSettings:
    """The same with a wider window around single words."""
    return replace(settings, windows=replace(settings.windows, before=AROUND, after=AROUND))


def _content(
    source: ContextSource, matrix: PairMatrix, wanted: int | tuple[str, ...], n_jobs: int | None,
    progress: Progress | None,
) -> Annex:  # fmt: skip
    if not isinstance(source, CorpusSource):
        raise UsageError(
            f"{source.path} holds only what stands close to the words that were fetched, so there are no content words "
            "in a wider window; take a preset without content, or index a corpus"
        )
    if isinstance(wanted, int):
        wanted = tuple(str(target) for target in frequent_targets(source.corpus, wanted))
    size = len(matrix.words.keys) + len(matrix.unknown_words)
    if not wanted:
        return Annex(no_rows(size, 0), (), np.zeros(0), of_words=True)
    frequencies = corpus_counts(source.corpus, wanted)
    basis = Basis(wanted, (), tuple(frequencies))
    used = np.unique(np.concatenate(matrix.word_rows))
    used = used[used >= 0]
    targets = [matrix.words.targets[i] for i in used.tolist()]
    tell = counter(progress, "content words", len(targets))
    counted, _ = source.count_words(targets, basis, wide_settings(matrix.settings), n_jobs, tell)
    # Row by row as in the table of words of `PairMatrix.counts`, where unknown words come last.
    rows = np.full(size, -1, np.int64)
    rows[used] = np.arange(used.size)
    return Annex(assemble([Part(counted, rows)]), wanted, np.array(frequencies, np.float64), of_words=True)


def _whole(
    source: ContextSource, matrix: PairMatrix, wanted: int | tuple[str, ...], n_jobs: int | None,
    progress: Progress | None,
) -> Annex:  # fmt: skip
    couples, swapped = matrix.couple_rows
    used, index = np.unique(couples[couples >= 0], return_inverse=True)
    targets = matrix.words.targets
    pairs = [(targets[one], targets[two]) for one, two in matrix.couples.members[used].tolist()]
    tell = counter(progress, "stretches between", len(pairs))
    counted = source.count_wholes(pairs, wanted, matrix.settings, n_jobs, tell)
    rows = np.full(len(matrix), -1, np.int64)
    rows[couples >= 0] = index
    return Annex(assemble([Part(counted.rows, rows, swapped)]), counted.stretches)
