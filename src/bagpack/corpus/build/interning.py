"""Turning byte strings into consecutive ids, at the speed of the parser.

A hash table over byte spans: open addressing, 64-bit FNV-1a hashes, every hit verified against the stored
bytes, so two strings never share an id. All arrays live in numpy; the kernels only read and fill them, and
report back when one is full, so that Python can grow it and call the kernel again from where it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.readers.base import TokenBatch
from bagpack.corpus.store.strings import Strings
from bagpack.jit import kernel, read_only, subroutine

U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]

FNV_OFFSET = np.uint64(0xCBF29CE484222325)
FNV_PRIME = np.uint64(0x100000001B3)
FULL = -1
ONE = np.uint64(1)


@subroutine
def mix(hash_value: np.uint64) -> np.uint64:
    """Spread FNV's entropy to the low bits that pick the slot."""
    hash_value ^= hash_value >> np.uint64(32)
    hash_value *= np.uint64(0x9E3779B97F4A7C15)
    return hash_value ^ (hash_value >> np.uint64(29))


@subroutine
def intern_two(  # type: ignore[no-untyped-def]
    buffer, start1, end1, start2, end2, slots, hashes, offsets, blob, used
):
    """Id of the string buffer[start1:end1] + TAB + buffer[start2:end2] (no TAB if start2 < 0), or FULL.

    `used` holds one number, that of the ids in use. New strings are appended to `blob`; `offsets` has one entry
    more than there are ids.
    """
    # Indices are unsigned throughout: a signed one is checked for wrapping around at every byte.
    first, first_end = np.uint64(start1), np.uint64(end1)
    second, second_end = np.uint64(max(start2, 0)), np.uint64(max(end2, 0))
    h = FNV_OFFSET
    i = first
    while i < first_end:
        h = (h ^ np.uint64(buffer[i])) * FNV_PRIME
        i += ONE
    length = end1 - start1
    if start2 >= 0:
        h = (h ^ np.uint64(9)) * FNV_PRIME
        i = second
        while i < second_end:
            h = (h ^ np.uint64(buffer[i])) * FNV_PRIME
            i += ONE
        length += 1 + end2 - start2
    h = mix(h)
    mask = np.uint64(slots.size - 1)
    slot = h & mask
    while slots[slot] >= 0:
        found = np.uint64(slots[slot])
        if hashes[found] == h:
            at = np.uint64(offsets[found])
            if offsets[found + ONE] - offsets[found] == length:
                i = first
                while i < first_end and blob[at] == buffer[i]:
                    at += ONE
                    i += ONE
                same = i == first_end
                if same and start2 >= 0:
                    same = blob[at] == 9
                    at += ONE
                    i = second
                    while same and i < second_end:
                        same = blob[at] == buffer[i]
                        at += ONE
                        i += ONE
                if same:
                    return slots[slot]
        slot = (slot + ONE) & mask
    new = used[0]
    end = offsets[new]
    if new + 1 >= hashes.size or 2 * (new + 1) > slots.size or end + length > blob.size:
        return FULL
    for k in range(start1, end1):
        blob[end] = buffer[k]
        end += 1
    if start2 >= 0:
        blob[end] = 9
        end += 1
        for k in range(start2, end2):
            blob[end] = buffer[k]
            end += 1
    hashes[new] = h
    offsets[new + 1] = end
    slots[slot] = new
    used[0] = new + 1
    return new


@kernel
def intern_spans(  # type: ignore[no-untyped-def]
    buffer, starts, ends, first, count, slots, hashes, offsets, blob, used, out
):
    """Ids of spans first..count into `out`; returns how far it got (less than count when a table is full)."""
    for i in range(first, count):
        found = intern_two(
            buffer, starts[i], ends[i], np.int64(-1), np.int64(-1), slots, hashes, offsets, blob, used
        )
        if found == FULL:
            return i
        out[i] = found
    return count


@kernel
def hash_tokens(buffer, starts, stops, lemma_starts, lemma_stops, out):  # type: ignore[no-untyped-def]
    """Hashes of FORM TAB LEMMA, or of FORM alone where there are no lemmas; the same as `intern_two` has."""
    for i in range(starts.size):
        h = FNV_OFFSET
        at, end = np.uint64(starts[i]), np.uint64(stops[i])
        while at < end:
            h = (h ^ np.uint64(buffer[at])) * FNV_PRIME
            at += ONE
        if lemma_starts.size > 0:
            h = (h ^ np.uint64(9)) * FNV_PRIME
            at, end = np.uint64(lemma_starts[i]), np.uint64(lemma_stops[i])
            while at < end:
                h = (h ^ np.uint64(buffer[at])) * FNV_PRIME
                at += ONE
        out[i] = mix(h)


@subroutine
def _same_bytes(buffer, start, end, blob, at):  # type: ignore[no-untyped-def]
    """Whether buffer[start:end] is at `at` in the blob."""
    i, stop, k = np.uint64(start), np.uint64(end), np.uint64(at)
    while i < stop and buffer[i] == blob[k]:
        i += ONE
        k += ONE
    return i == stop


@kernel
def intern_hashed(  # type: ignore[no-untyped-def]
    buffer, starts, stops, lemma_starts, lemma_stops, flags, hashed, first,
    slots, hashes, offsets, blob, used, tokens,
):  # fmt: skip
    """Ids of tokens with their flags into `tokens`; returns how far it got (not to the end when a table is full).

    With the hashes at hand, the processor looks several tokens ahead: twice as fast as hashing each in turn.
    """
    mask = np.uint64(slots.size - 1)
    has_lemmas = lemma_starts.size > 0
    for i in range(first, starts.size):
        form = stops[i] - starts[i]
        lemma = lemma_stops[i] - lemma_starts[i] if has_lemmas else -1
        length = form + 1 + lemma
        found = -1
        slot = hashed[i] & mask
        while slots[slot] >= 0:
            candidate = np.uint64(slots[slot])
            at = offsets[candidate]
            if (
                hashes[candidate] == hashed[i]
                and offsets[candidate + ONE] - at == length
                and _same_bytes(buffer, starts[i], stops[i], blob, at)
                and (
                    not has_lemmas
                    or (
                        blob[at + form] == 9
                        and _same_bytes(buffer, lemma_starts[i], lemma_stops[i], blob, at + form + 1)
                    )
                )
            ):
                found = slots[slot]
                break
            slot = (slot + ONE) & mask
        if found < 0:
            found = used[0]
            end = offsets[found]
            if found + 1 >= hashes.size or 2 * (found + 1) > slots.size or end + length > blob.size:
                return i
            for k in range(starts[i], stops[i]):
                blob[end] = buffer[k]
                end += 1
            if has_lemmas:
                blob[end] = 9
                end += 1
                for k in range(lemma_starts[i], lemma_stops[i]):
                    blob[end] = buffer[k]
                    end += 1
            hashes[found] = hashed[i]
            offsets[found + 1] = end
            slots[slot] = found
            used[0] = found + 1
        tokens[i] = np.uint32(found) | flags[i]
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

    @property
    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.uint64], I64, U8, I64]:
        """What the kernels take, in their order."""
        return self.slots, self.hashes, self.offsets, self.blob, self.used

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

    def add_spans(self, buffer: U8, starts: I64, ends: I64) -> I64:
        """Ids of the given spans of `buffer`."""
        buffer, starts, ends = read_only(buffer), read_only(starts), read_only(ends)
        out = np.empty(starts.size, np.int64)
        done = 0
        while True:
            done = intern_spans(buffer, starts, ends, done, starts.size, *self.arrays, out)
            if done == starts.size:
                return out
            self.grow(int(ends[done] - starts[done]))

    def add_tokens(self, batch: TokenBatch, tokens: NDArray[np.uint32]) -> None:
        """The tokens of a batch: ids of FORM TAB LEMMA, or of FORM alone, with their flags."""
        none = np.empty(0, np.int32)
        lemma_starts = batch.lemma_starts if batch.lemma_starts is not None else none
        lemma_stops = batch.lemma_stops if batch.lemma_stops is not None else none
        data, starts, stops = read_only(batch.data), read_only(batch.starts), read_only(batch.stops)
        lemmas = read_only(lemma_starts), read_only(lemma_stops)
        flags = read_only(batch.flags)
        hashed = np.empty(starts.size, np.uint64)
        hash_tokens(data, starts, stops, *lemmas, hashed)
        done = 0
        while True:
            done = intern_hashed(data, starts, stops, *lemmas, flags, hashed, done, *self.arrays, tokens)
            if done == batch.starts.size:
                return
            longest = int(batch.stops[done] - batch.starts[done])
            if lemma_starts.size:
                longest += 1 + int(lemma_stops[done] - lemma_starts[done])
            self.grow(longest)

    def add(self, strings: Strings) -> I64:
        """Ids of these strings."""
        return self.add_spans(strings.blob, strings.offsets[:-1], strings.offsets[1:])

    def strings(self) -> Strings:
        """The distinct strings, by id."""
        count = len(self)
        offsets = self.offsets[: count + 1].copy()
        return Strings(self.blob[: int(offsets[count])].copy(), offsets)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.strings())
