"""Turning byte strings into consecutive ids, at the speed of the parser.

A hash table over byte spans: open addressing, 64-bit hashes, every hit verified against the stored bytes, so two
strings never share an id. Bytes are read eight at a time. All arrays are numpy's; the kernels only read and fill them,
and report back when one is full, so that Python can grow it and call the kernel again from where it stopped.
"""

from __future__ import annotations

import numpy as np

from bagpack.arrays import I32, I64, U8, U32, U64, Bools, Values
from bagpack.corpus.strings import Strings
from bagpack.errors import InputError
from bagpack.kernels import inlined, kernel, read_only

SEED = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x9E3779B97F4A7C15)
ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
TAB, BYTE = np.uint64(9), np.uint64(255)
ONE, EIGHT = np.uint64(1), np.uint64(8)
HALF = np.uint64(32)


def _words(data: U8) -> U64:
    """The eight bytes that begin at each byte, as one number."""
    if data.size <= 8:
        data = np.append(data, np.zeros(9, np.uint8))
    return np.ndarray(data.size - 7, np.uint64, data.data, strides=(1,))


# Indices are unsigned throughout: a signed one is checked for wrapping around at every byte.
@inlined
def _word(words, at, end):  # type: ignore[no-untyped-def]
    """The bytes from `at` to `end`, eight at most, as one number."""
    last = np.uint64(words.size - 1)
    word = words[at] if at <= last else words[last] >> (EIGHT * (at - last))
    return word if at + EIGHT <= end else word & (ALL_BITS >> (EIGHT * (at + EIGHT - end)))


@inlined
def _hash(words, start, end, hashed):  # type: ignore[no-untyped-def]
    """The hash of what came before, with the bytes of a span and their number added."""
    at = start
    while at < end:
        hashed = (hashed ^ _word(words, at, end)) * PRIME
        hashed ^= hashed >> HALF
        at += EIGHT
    hashed = (hashed ^ (end - start)) * PRIME
    return hashed ^ (hashed >> HALF)


@inlined
def _same(words, start, end, blob, at):  # type: ignore[no-untyped-def]
    """Whether the bytes from `start` to `end` are at `at` in the blob."""
    while start + EIGHT < end:
        if words[start] != blob[at]:
            return False
        start += EIGHT
        at += EIGHT
    return start == end or (_word(words, start, end) ^ blob[at]) << (EIGHT * (start + EIGHT - end)) == 0


@inlined
def _append(words, start, end, blob, at):  # type: ignore[no-untyped-def]
    """Copy the bytes from `start` to `end` to `at` in the blob, zeros behind them; returns where they end."""
    for offset in range(np.uint64(0), end - start, EIGHT):
        blob[at + offset] = _word(words, start + offset, end)
    return at + (end - start)


@kernel
def hash_spans(words, starts, stops, starts2, stops2, out):  # type: ignore[no-untyped-def]
    """Hashes of FIRST TAB SECOND, or of FIRST alone where there is no second."""
    for i in range(starts.size):
        hashed = _hash(words, np.uint64(starts[i]), np.uint64(stops[i]), SEED)
        if starts2.size > 0:
            hashed = _hash(words, np.uint64(starts2[i]), np.uint64(stops2[i]), hashed)
        out[i] = hashed


@kernel
def intern_spans(  # type: ignore[no-untyped-def]
    words, starts, stops, starts2, stops2, flags, hashed, first, slots, hashes, offsets, blob, used, out
):
    """Ids with their flags into `out`; returns how far it got (not to the end when a table is full).

    With hashes computed before, the processor looks several strings ahead: twice as fast as hashing each in turn.
    """
    paired = starts2.size > 0
    start2 = end2 = np.uint64(0)
    mask, size = np.uint64(slots.size - 1), np.uint64(blob.size)
    for i in range(first, starts.size):
        start, end = np.uint64(starts[i]), np.uint64(stops[i])
        length = end - start
        if paired:
            start2, end2 = np.uint64(starts2[i]), np.uint64(stops2[i])
            length += ONE + end2 - start2
        slot = hashed[i] & mask
        found = np.int64(-1)
        while slots[slot] >= 0:
            other = np.uint64(slots[slot])
            if hashes[other] == hashed[i]:
                at = np.uint64(offsets[other])
                tab = at + (end - start)
                same = np.uint64(offsets[other + ONE]) - at == length and _same(words, start, end, blob, at)
                if same and paired:
                    same = blob[tab] & BYTE == TAB and _same(words, start2, end2, blob, tab + ONE)
                if same:
                    found = np.int64(other)
                    break
            slot = (slot + ONE) & mask
        if found < 0:
            found = used[0]
            at = np.uint64(offsets[found])
            if found + 1 >= hashes.size or 2 * (found + 1) > slots.size or at + length > size:
                return i
            at = _append(words, start, end, blob, at)
            if paired:
                blob[at] = TAB
                at = _append(words, start2, end2, blob, at + ONE)
            hashes[found] = hashed[i]
            offsets[found + 1] = np.int64(at)
            slots[slot] = found
            used[0] = found + 1
        out[i] = np.uint32(found) | flags[i]
    return starts.size


@kernel
def refill_slots(slots, hashes, count):  # type: ignore[no-untyped-def]
    """Enter ids 0..count-1 into an empty, larger slot table."""
    mask = np.int64(slots.size - 1)
    for found in range(count):
        slot = np.int64(hashes[found] & np.uint64(mask))
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = found


class InternTable:
    """Distinct byte strings in the order of first sight."""

    def __init__(self, capacity: int = 1 << 14) -> None:
        capacity = 1 << max(4, (capacity - 1).bit_length())  # slots are picked by masking
        # Looked at more than any other, so its numbers are short: half the cache misses.
        self.slots = np.full(4 * capacity, -1, np.int32)
        self.hashes = np.zeros(capacity, np.uint64)
        self.offsets = np.zeros(capacity + 1, np.int64)
        self.blob = np.zeros(16 * capacity, np.uint8)
        self.used = np.zeros(1, np.int64)

    def __len__(self) -> int:
        return int(self.used[0])

    def grow(self, longest: int) -> None:
        """Allow for at least one more string of `longest` bytes, doubling what is short."""
        count = len(self)
        if count + 1 >= self.hashes.size:
            self.hashes = np.concatenate([self.hashes, np.zeros_like(self.hashes)])
            self.offsets = np.concatenate([self.offsets, np.zeros(self.offsets.size - 1, np.int64)])
        if 2 * (count + 1) > self.slots.size // 2:
            self.slots = np.full(2 * self.slots.size, -1, np.int32)
            refill_slots(self.slots, self.hashes, count)
        need = int(self.offsets[count]) + longest
        if need > self.blob.size // 2:
            self.blob = np.concatenate([self.blob, np.zeros(max(self.blob.size, need), np.uint8)])

    def add_spans(self, data: U8, spans: I32, flags: U32, out: U32) -> None:
        """Ids, with flags, of spans of bytes.

        The rows of `spans` are starts and stops of FIRST and, if there are four, of SECOND: FIRST TAB SECOND is
        interned.
        """
        rows: list[Values] = [*spans, *(spans[0][:0],) * (4 - len(spans))]
        arrays = [read_only(array) for array in (_words(data), *rows)]
        hashed = np.empty(spans.shape[1], np.uint64)
        hash_spans(*arrays, hashed)
        done = 0
        while True:
            tables = (self.slots, self.hashes, self.offsets, _words(self.blob), self.used)
            done = intern_spans(*arrays, read_only(flags), hashed, done, *tables, out)
            if done == hashed.size:
                return
            self.grow(1 + int((spans[1::2, done] - spans[::2, done]).sum()))

    def add_pairs(self, first: Strings, second: Strings, skip: Bools) -> I64:
        """Ids of the pairs FIRST TAB SECOND, or of FIRST alone if there is no SECOND; -1 where skipped."""
        out = np.full(len(first), -1, np.int64)
        kept = np.flatnonzero(~skip)
        lists = [first, second] if len(second) else [first]
        bounds = np.cumsum([0, *(strings.blob.size for strings in lists)])
        if bounds[-1] >= 1 << 31:  # a span is counted in 32 bits; a segment is far from it
            raise InputError("a segment has more than 2 GiB of distinct words; check that the input is text")
        rows = [
            strings.offsets[kept + k] + start for strings, start in zip(lists, bounds[:-1], strict=True) for k in (0, 1)
        ]  # fmt: skip
        ids = np.empty(kept.size, np.uint32)
        blob = np.concatenate([strings.blob for strings in lists])
        self.add_spans(blob, np.array(rows, np.int32), np.zeros_like(ids), ids)
        out[kept] = ids
        return out

    def bytes_at(self, number: int) -> bytes:
        return self.blob[self.offsets[number] : self.offsets[number + 1]].tobytes()

    def strings(self) -> Strings:
        count = len(self)
        offsets = self.offsets[: count + 1].copy()
        return Strings(self.blob[: int(offsets[count])].copy(), offsets)
