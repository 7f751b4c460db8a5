"""Counting pairs into tables: words and pairs that the tables have already are not counted again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.basis import Basis
from bagpack.contexts.distribute import Csr, no_rows
from bagpack.contexts.source import ContextSource
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.strings import Strings
from bagpack.parallel import Progress, counter
from bagpack.vectors.rows import Pair
from bagpack.vectors.tables import KEY_SEPARATOR, CountTables, PairTable, WordTable, pair_codes

I64 = NDArray[np.int64]


def empty_tables(source: ContextSource, basis: Basis, settings: CountSettings) -> CountTables:
    """Tables of a source in which nothing was counted yet."""
    none, nothing = np.zeros(0, np.int64), np.zeros((0, 2), np.int64)
    return CountTables(
        Strings.of([]), none, WordTable(Strings.of([]), no_rows(0, 2 * len(basis)), none),
        PairTable(nothing, no_rows(0, 6 * len(basis)), nothing, nothing),
        basis, settings, source.name, source.content_hash,
    )  # fmt: skip


def grown_tables(
    tables: CountTables, source: ContextSource, pairs: Iterable[Pair], n_jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[CountTables, I64]:  # fmt: skip
    """The tables with what the pairs need, and the pairs as two names each."""
    added = [str(word) for pair in pairs for word in pair]
    names = {name: i for i, name in enumerate(tables.name_list)}
    new_names = [name for name in dict.fromkeys(added) if name not in names]
    names |= {name: i for i, name in enumerate(new_names, len(names))}
    resolved = source.resolve(new_names)

    distinct = {target.keys: target for target in resolved if target}  # whose hash is quicker than a target's
    for old in tables.words.targets:
        distinct.pop(old.keys, None)
    targets = [distinct[keys] for keys in sorted(distinct)]
    rows, found = source.count_words(
        targets, tables.basis, tables.settings, n_jobs, counter(progress, "words", len(targets))
    )
    all_targets = [*tables.words.targets, *targets]
    number = {target.keys: i for i, target in enumerate(all_targets)}
    words = WordTable(
        Strings.of(KEY_SEPARATOR.join(target.keys) for target in all_targets),
        _stack(tables.words.rows, rows),
        np.concatenate([tables.words.found, found]),
    )
    new_targets = np.array([number[target.keys] if target else -1 for target in resolved], np.int64)
    name_targets = np.concatenate([tables.name_targets, new_targets])
    new_rows = np.fromiter(map(names.__getitem__, added), np.int64, len(added)).reshape(-1, 2)

    distinct_pairs = _new_distinct_pairs(tables.distinct_pairs, all_targets, name_targets[new_rows])
    asked = [(all_targets[one], all_targets[two]) for one, two in distinct_pairs.tolist()]
    counted = source.count_pairs(
        asked, tables.basis, tables.settings, n_jobs, counter(progress, "pairs", len(asked))
    )
    table = PairTable(
        np.concatenate([tables.distinct_pairs.members, distinct_pairs]),
        _stack(tables.distinct_pairs.rows, counted.rows),
        np.concatenate([tables.distinct_pairs.found, counted.found]),
        np.concatenate([tables.distinct_pairs.taken, counted.taken]),
    )
    grown = replace(
        tables, names=Strings.of(names), name_targets=name_targets, words=words, distinct_pairs=table
    )
    return grown, new_rows


def _new_distinct_pairs(table: PairTable, targets: Sequence[Target], asked: I64) -> I64:
    """Pairs of known targets that the table does not have, each once, the smaller target first, sorted."""
    known = asked[(asked >= 0).all(axis=1)]
    codes = np.unique(pair_codes(known[:, 0], known[:, 1]))
    codes = codes[~np.isin(codes, table.by_code[0])]
    rank = np.empty(len(targets), np.int64)
    keys = [target.keys for target in targets]
    rank[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    one, two = codes >> 32, codes & 0xFFFFFFFF
    swapped = rank[one] > rank[two]
    smaller, larger = np.where(swapped, two, one), np.where(swapped, one, two)
    return np.stack([smaller, larger], axis=1)[np.lexsort((rank[larger], rank[smaller]))]


def _stack(first: Csr, second: Csr) -> Csr:
    if not second.shape[0]:
        return first
    return second if not first.shape[0] else sparse.vstack([first, second], format="csr")
