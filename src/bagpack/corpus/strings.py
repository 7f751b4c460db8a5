"""Many byte strings in two arrays: sorting, searching and merging without a Python object each.

A `Strings` is a blob of UTF-8 bytes and n + 1 offsets. The order is that of the bytes, which for UTF-8 is
code-point order, the one by which ties are broken (docs/method.md).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bagpack.arrays import I64, U8, U64, Bools, Values
from bagpack.kernels import kernel, read_only

PREFIX = 7  # bytes that are compared at once when strings are sorted
SAMPLED = 16  # every 16th string is looked at first when strings are searched
AT_ONCE = 1 << 15  # queries
FEW = 32  # strings that are searched or taken without a kernel, which would take longer to load


@kernel
def compare(blob1, start1, end1, blob2, start2, end2):  # type: ignore[no-untyped-def]
    """Negative, zero or positive, as bytes compare."""
    length1 = end1 - start1
    length2 = end2 - start2
    for i in range(min(length1, length2)):
        difference = np.int64(blob1[start1 + i]) - np.int64(blob2[start2 + i])
        if difference != 0:
            return difference
    return length1 - length2


@kernel
def _copy_spans(blob, starts, ends, out_blob, out_offsets):  # type: ignore[no-untyped-def]
    at = 0
    for i in range(starts.size):
        for k in range(starts[i], ends[i]):
            out_blob[at] = blob[k]
            at += 1
        out_offsets[i + 1] = at


@kernel
def _search(blob, offsets, query, query_offsets, lows, highs, exact, out):  # type: ignore[no-untyped-def]
    """The first of the strings lows[q]..highs[q] that is not below query q; if `exact`, -1 unless it is equal."""
    for q in range(query_offsets.size - 1):
        start = np.int64(query_offsets[q])
        end = np.int64(query_offsets[q + 1])
        low, high = lows[q], highs[q]
        while low < high:
            middle = (low + high) // 2
            if compare(blob, np.int64(offsets[middle]), np.int64(offsets[middle + 1]), query, start, end) < 0:
                low = middle + 1
            else:
                high = middle
        out[q] = low
        if exact and (
            low == offsets.size - 1
            or compare(blob, np.int64(offsets[low]), np.int64(offsets[low + 1]), query, start, end) != 0
        ):
            out[q] = -1


@kernel
def merge_sorted(  # type: ignore[no-untyped-def]
    blob1, offsets1, counts1, blob2, offsets2, counts2, blob, offsets, counts
):
    """Merge two sorted string lists with counts into preallocated arrays; equal strings add their counts."""
    n1 = offsets1.size - 1
    n2 = offsets2.size - 1
    i = 0
    j = 0
    n = 0
    at = 0
    while i < n1 or j < n2:
        if i == n1:
            order = np.int64(1)
        elif j == n2:
            order = np.int64(-1)
        else:
            start1, end1 = np.int64(offsets1[i]), np.int64(offsets1[i + 1])
            start2, end2 = np.int64(offsets2[j]), np.int64(offsets2[j + 1])
            order = np.int64(compare(blob1, start1, end1, blob2, start2, end2))
        total = np.int64(0)
        if order <= 0:
            for k in range(np.int64(offsets1[i]), np.int64(offsets1[i + 1])):
                blob[at] = blob1[k]
                at += 1
            total += np.int64(counts1[i])
            i += 1
        else:
            for k in range(np.int64(offsets2[j]), np.int64(offsets2[j + 1])):
                blob[at] = blob2[k]
                at += 1
        if order >= 0:
            total += np.int64(counts2[j])
            j += 1
        n += 1
        offsets[n] = at
        counts[n - 1] = total
    return n


@dataclass(frozen=True)
class Strings:
    """`offsets[i]:offsets[i+1]` of `blob` is string i."""

    blob: U8
    offsets: I64

    def __post_init__(self) -> None:
        # One array type for all callers (read-only, as memory maps are), so that kernels compile once.
        object.__setattr__(self, "blob", read_only(self.blob))
        object.__setattr__(self, "offsets", read_only(self.offsets))

    @classmethod
    def of(cls, items: Iterable[bytes | str]) -> Strings:
        encoded = [item.encode() if isinstance(item, str) else item for item in items]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets)

    @classmethod
    def of_spans(cls, blob: U8, starts: I64, ends: I64) -> Strings:
        """The strings blob[starts[i]:ends[i]]."""
        out, offsets = np.empty(int((ends - starts).sum()), np.uint8), np.zeros(starts.size + 1, np.int64)
        _copy_spans(read_only(blob), read_only(starts), read_only(ends), out, offsets)
        return cls(out, offsets)

    def files(self, name: str) -> dict[str, Values]:
        """The two arrays under the names of their files."""
        return {f"{name}.blob": self.blob, f"{name}.offsets": self.offsets}

    def __len__(self) -> int:
        return int(self.offsets.size - 1)

    def bytes_at(self, index: int) -> bytes:
        return self.blob[int(self.offsets[index]) : int(self.offsets[index + 1])].tobytes()

    def __getitem__(self, index: int) -> str:
        return self.bytes_at(index).decode()

    def __iter__(self) -> Iterator[bytes]:
        whole = self.blob.tobytes()
        bounds = self.offsets.tolist()
        return (whole[bounds[i] : bounds[i + 1]] for i in range(len(self)))

    def sort_order(self) -> I64:
        """Indices that put the strings into byte order; equal strings keep their order."""
        order = np.arange(len(self))
        ties = np.zeros(len(self), np.int64)  # where the run of each string of `order` starts, so far
        left, depth = np.arange(len(self)), 0  # places in `order` that are not settled
        while left.size:
            # Seven bytes of each as a number, and how many of them there are.
            starts, ends = self.offsets[order[left]] + depth, self.offsets[order[left] + 1]
            there = np.clip(ends - starts, 0, PREFIX).astype(np.uint64)
            prefixes = self._numbers(starts, ends, PREFIX) | there
            by_prefix = np.lexsort((prefixes, ties[left]))
            order[left], prefixes = order[left][by_prefix], prefixes[by_prefix]
            # Fewer than seven have nothing to compare after them.
            same = (prefixes[1:] == prefixes[:-1]) & (ties[left][1:] == ties[left][:-1])
            first = np.concatenate([[True], ~same])
            ties[left] = left[np.maximum.accumulate(np.where(first, np.arange(left.size), 0))]
            alone = first & np.append(first[1:], True)
            left = left[~alone & (prefixes & np.uint64(255) == PREFIX)]
            depth += PREFIX
        return order

    def _numbers(self, starts: I64, ends: I64, most: int) -> U64:
        """Up to `most` bytes of each span as a big-endian number of 64 bits: numbers sort as the bytes do."""
        numbers = np.zeros(starts.size, np.uint64)
        for k in range(most):
            inside = np.flatnonzero(starts + k < ends)
            numbers[inside] |= self.blob[starts[inside] + k].astype(np.uint64) << np.uint64(56 - 8 * k)
        return numbers

    def take(self, order: I64) -> Strings:
        if order.size <= FEW:
            return Strings.of(map(self.bytes_at, order.tolist()))
        return Strings.of_spans(self.blob, self.offsets[order], self.offsets[order + 1])

    def replaced(self, chosen: Bools, new: Strings) -> Strings:
        """The strings with new ones in the chosen places, one after the other."""
        starts, ends = self.offsets[:-1].copy(), self.offsets[1:].copy()
        starts[chosen], ends[chosen] = self.blob.size + new.offsets[:-1], self.blob.size + new.offsets[1:]
        return Strings.of_spans(np.concatenate([self.blob, new.blob]), starts, ends)

    def find(self, queries: Strings | Iterable[bytes | str]) -> I64:
        """Index of each query, or -1; the strings must be sorted."""
        return self._search(queries, exact=True)

    def first_not_below(self, queries: Strings | Iterable[bytes | str]) -> I64:
        """Index of the first string that is not below each query, `len` if all are; they must be sorted."""
        return self._search(queries, exact=False)

    def _search(self, queries: Strings | Iterable[bytes | str], *, exact: bool) -> I64:
        """Among every 16th string first, by their first bytes; some queries at a time, which bounds the memory."""
        wanted = queries if isinstance(queries, Strings) else Strings.of(queries)
        if len(wanted) <= FEW:
            bounds = [bisect_left(range(len(self)), query, key=self.bytes_at) for query in wanted]
            for number, (at, query) in enumerate(zip(bounds, wanted, strict=True)):
                if exact and (at == len(self) or self.bytes_at(at) != query):
                    bounds[number] = -1
            return np.array(bounds, np.int64)
        out = np.empty(len(wanted), np.int64)
        for start in range(0, len(wanted), AT_ONCE):
            some = Strings(wanted.blob, wanted.offsets[start : start + AT_ONCE + 1])
            numbers = some._numbers(some.offsets[:-1], some.offsets[1:], 8)
            order = np.argsort(numbers)  # what is read for one query is in the cache for the next
            numbers = numbers[order]
            lows = np.maximum(np.searchsorted(self._sample, numbers) - 1, 0) * SAMPLED
            highs = np.minimum(np.searchsorted(self._sample, numbers, side="right") * SAMPLED, len(self))
            found = np.empty(len(some), np.int64)
            ordered = some.take(order)
            _search(self.blob, self.offsets, ordered.blob, ordered.offsets, lows, highs, exact, found)
            out[start + order] = found
        return out

    @cached_property
    def _sample(self) -> U64:
        """The first bytes of every 16th string."""
        return self._numbers(self.offsets[:-1:SAMPLED], self.offsets[1::SAMPLED], 8)

    def mapped(self, table: U8, slow: Bools, by: Callable[[str], str]) -> Strings:
        """Each byte through a table; strings that hold any of the `slow` bytes as a whole, through a function."""
        blob = self.blob[: int(self.offsets[-1])]
        mapped = Strings(table[blob], self.offsets)
        is_slow = self._holding(np.flatnonzero(slow[blob]))
        if not is_slow.any():
            return mapped
        own = self.take(np.flatnonzero(is_slow))
        return mapped.replaced(is_slow, Strings.of(by(item.decode()) for item in own))

    def equals(self, others: Strings) -> Bools:
        same: Bools = np.diff(self.offsets) == np.diff(others.offsets)
        as_long = np.flatnonzero(same)
        one, two = self.take(as_long), others.take(as_long)
        same[as_long[one._holding(np.flatnonzero(one.blob != two.blob))]] = False
        return same

    def _holding(self, places: I64) -> Bools:
        """Which strings hold one of these places of the blob."""
        found = np.zeros(len(self), np.bool_)
        found[np.searchsorted(self.offsets, places, side="right") - 1] = True
        return found


def split_pairs(pairs: Strings) -> tuple[Strings, Strings]:
    """Back from FORM TAB KEY to forms and keys; neither holds a TAB of its own."""
    tabs = np.flatnonzero(pairs.blob == 9)
    forms = Strings.of_spans(pairs.blob, pairs.offsets[:-1], tabs)
    return forms, Strings.of_spans(pairs.blob, tabs + 1, pairs.offsets[1:])
