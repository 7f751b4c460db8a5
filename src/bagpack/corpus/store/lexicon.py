"""The corpus-wide lexicon: every key with its count, and the form → key table, merged from the shards' own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.store import format
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.store.strings import Strings, merge_sorted, read_only
from bagpack.files import map_array

Counted = tuple[Strings, NDArray[np.int64]]


def merge_two(first: Counted, second: Counted) -> Counted:
    """Union of two sorted, counted lists; counts of equal strings add up."""
    (strings1, counts1), (strings2, counts2) = first, second
    blob = np.empty(strings1.blob.size + strings2.blob.size, np.uint8)
    offsets = np.zeros(len(strings1) + len(strings2) + 1, np.int64)
    counts = np.zeros(len(strings1) + len(strings2), np.int64)
    n = merge_sorted(
        strings1.blob, strings1.offsets, read_only(counts1),
        strings2.blob, strings2.offsets, read_only(counts2),
        blob, offsets, counts,
    )  # fmt: skip
    return Strings(blob[: offsets[n]].copy(), offsets[: n + 1].copy()), counts[:n].copy()


def merge_all(lists: Iterable[Counted]) -> Counted:
    """Merge many lists like a binary counter: each string is copied log(n) times, few lists are held at once."""
    levels: list[Counted | None] = []
    for item in lists:
        carried = item
        for level, held in enumerate(levels):
            if held is None:
                levels[level] = carried
                break
            carried = merge_two(held, carried)
            levels[level] = None
        else:
            levels.append(carried)
    result: Counted = (Strings.of([]), np.zeros(0, np.int64))
    for held in levels:
        if held is not None:
            result = merge_two(held, result)
    return result


def most_frequent_keys(
    pairs: Strings, counts: NDArray[np.int64], keys: Strings
) -> tuple[Strings, NDArray[np.int64]]:
    """From sorted FORM TAB KEY with counts: each form once, with the index of its most frequent key.

    A form that is a key itself is left out, since a target is looked up among the keys first. Equal counts: the
    key that comes first in code-point order.
    """
    forms: list[bytes] = []
    best: list[bytes] = []
    highest = -1
    for entry, count in zip(pairs, counts.tolist(), strict=True):
        form, _, key = entry.partition(b"\t")
        if not forms or forms[-1] != form:
            forms.append(form)
            best.append(key)
            highest = count
        elif count > highest:
            best[-1] = key
            highest = count
    all_forms = Strings.of(forms)
    is_key = keys.find(all_forms) >= 0
    kept = np.flatnonzero(~is_key)
    return all_forms.take(kept), keys.find(Strings.of(best))[kept]


def _counted_keys(shard: Shard) -> Counted:
    return shard.keys, np.diff(shard.posting_bounds)


def _counted_forms(shard: Shard) -> Counted:
    forms, counts = shard.form_keys
    return forms, counts.astype(np.int64)


def write_lexicon(shards: Iterable[Path], directory: Path) -> dict[str, str]:
    """Merge the shards' lexicons into `directory`; returns the checksums."""
    paths = list(shards)  # each is opened for its turn alone: a large store has more files than may be mapped
    keys, counts = merge_all(_counted_keys(Shard(path)) for path in paths)
    pairs, pair_counts = merge_all(_counted_forms(Shard(path)) for path in paths)
    forms, form_keys = most_frequent_keys(pairs, pair_counts, keys)
    arrays: dict[str, NDArray[Any]] = {
        "keys.blob": keys.blob,
        "keys.offsets": keys.offsets,
        "keys.count": counts,
        "forms.blob": forms.blob,
        "forms.offsets": forms.offsets,
        "forms.key": form_keys,
    }
    directory.mkdir(parents=True, exist_ok=True)
    return format.write_arrays(directory, arrays, format.LEXICON)


class Lexicon:
    """The corpus's keys, sorted, with counts; memory-mapped.

    All files are mapped at once, so that a corpus that is open stays usable while another process appends to it: an
    append writes a new lexicon and removes the old one.
    """

    def __init__(self, directory: Path, tokens: int, keys: int) -> None:
        self.directory = directory
        format.check(directory, format.LEXICON, {"tokens": tokens, "keys": keys})
        arrays = {
            name: read_only(map_array(directory / name, array.dtype))
            for name, array in format.LEXICON.items()
        }
        self.keys = Strings(arrays["keys.blob"], arrays["keys.offsets"])  # in code-point order
        self.counts: NDArray[np.int64] = arrays["keys.count"]  # tokens of each key
        self.forms = Strings(arrays["forms.blob"], arrays["forms.offsets"])
        self.form_keys: NDArray[np.int64] = arrays["forms.key"]

    def find(self, words: Iterable[str]) -> NDArray[np.int64]:
        """Key index of each word: as a key, failing that as a form; -1 if the corpus has neither."""
        wanted = Strings.of(words)
        found = self.keys.find(wanted)
        missing = np.flatnonzero(found < 0)
        if missing.size:
            by_form = self.forms.find(wanted.take(missing))
            known = by_form >= 0
            found[missing[known]] = self.form_keys[by_form[known]]
        return found
