"""Writing the corpus-wide lexicon: every key with its count, and the form → key table, merged from the segments' own.

Memory is bounded while merging: lists of more than SMALL bytes are kept in unnamed temporary files next to the lexicon,
whose pages the system can write out, and no string becomes a Python object.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bagpack.arrays import I64, Values
from bagpack.corpus import format
from bagpack.corpus.segment import Segment
from bagpack.corpus.strings import Strings, merge_sorted, split_pairs
from bagpack.files import disk_errors, reserve
from bagpack.kernels import read_only

Counted = tuple[Strings, I64]

SMALL = 16 << 20  # bytes of an array that is kept in memory
AT_ONCE = 1 << 18  # forms with their keys


def new_array(size: int, dtype: np.typing.DTypeLike, place: Path) -> Values:
    """An array to be written: in memory if it is small, else in a file that is deleted with the array."""
    if size * np.dtype(dtype).itemsize <= SMALL:
        return np.empty(size, dtype)
    with disk_errors(place), tempfile.TemporaryFile(dir=place) as file:
        reserve(file, size * np.dtype(dtype).itemsize)
        return np.asarray(np.memmap(file, dtype, "r+"))


def merge_two(first: Counted, second: Counted, place: Path) -> Counted:
    """Union of two sorted, counted lists; counts of equal strings add up."""
    (strings1, counts1), (strings2, counts2) = first, second
    blob = new_array(strings1.blob.size + strings2.blob.size, np.uint8, place)
    offsets = new_array(len(strings1) + len(strings2) + 1, np.int64, place)
    offsets[0] = 0
    counts = new_array(len(strings1) + len(strings2), np.int64, place)
    n = merge_sorted(
        strings1.blob, strings1.offsets, read_only(counts1),
        strings2.blob, strings2.offsets, read_only(counts2),
        blob, offsets, counts,
    )  # fmt: skip
    return Strings(blob[: offsets[n]], offsets[: n + 1]), counts[:n]


def merge_all(load: Callable[[Any], Counted], paths: Sequence[Any], place: Path) -> Counted:
    """Merge the lists of many segments by halves: each string is copied log(n) times, few lists are held at once."""
    if len(paths) == 1:
        return load(paths[0])
    half = len(paths) // 2
    return merge_two(merge_all(load, paths[:half], place), merge_all(load, paths[half:], place), place)


def _counted_keys(path: Path) -> Counted:
    segment = Segment(path)  # open for its turn alone: a large store has more files than may be mapped
    return segment.keys, np.diff(segment.posting_bounds)


def _counted_forms(path: Path) -> Counted:
    forms, counts = Segment(path).form_keys
    return forms, counts.astype(np.int64)


def most_frequent_keys(pairs: Strings, counts: I64, keys: Strings) -> Counted:
    """From sorted FORM TAB KEY with counts: each form once, with the index of its most frequent key.

    A form that is a key itself is omitted, since a target is looked up among the keys first. Equal counts: the
    key that comes first in code-point order.
    """
    chosen, start = [np.empty(0, np.int64)], 0
    while start < len(pairs):  # some at a time, which bounds the memory; a form stays together
        end = min(start + AT_ONCE, len(pairs))
        while end < len(pairs) and _form(pairs, end) == _form(pairs, end - 1):
            end += 1
        forms, _ = split_pairs(pairs.take(np.arange(start, end)))
        numbers = np.arange(len(forms))
        is_first = np.append(True, ~forms.take(numbers[1:]).equals(forms.take(numbers[:-1])))
        # Within each run of one form by falling count; the sort keeps the order of equals.
        best = np.lexsort((-counts[start:end], np.cumsum(is_first)))[is_first]
        chosen.append(start + best[keys.find(forms.take(best)) < 0])
        start = end
    forms, keys_of_forms = split_pairs(pairs.take(np.concatenate(chosen)))
    return forms, keys.find(keys_of_forms)


def _form(pairs: Strings, number: int) -> bytes:
    return pairs.bytes_at(number).partition(b"\t")[0]


def write_lexicon(segments: Sequence[Path], directory: Path) -> dict[str, str]:
    """Merge the segments' lexicons into `directory`; returns the checksums."""
    with disk_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
    keys, counts = merge_all(_counted_keys, segments, directory)
    pairs, pair_counts = merge_all(_counted_forms, segments, directory)
    forms, form_keys = most_frequent_keys(pairs, pair_counts, keys)
    arrays = {**keys.files("keys"), "keys.count": counts, **forms.files("forms"), "forms.key": form_keys}
    return format.write_arrays(directory, arrays, format.LEXICON)
