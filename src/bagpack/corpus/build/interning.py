"""Turning byte strings into consecutive ids, at the speed of the parser.

A hash table over byte spans: open addressing, 64-bit hashes, every hit verified against the stored bytes, so two
strings never share an id. Bytes are hashed and compared eight at a time. All arrays are numpy's; the kernels only
read and fill them, and report back when one is full, so that Python can grow it and call the kernel again from where
it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.readers.base import NONE, TokenBatch
from bagpack.corpus.strings import Strings
from bagpack.kernels import inlined, intrinsic, kernel, read_only

U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]
Spans = tuple[NDArray[np.int32], NDArray[np.int32]]

SEED = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x9E3779B97F4A7C15)
FULL = -1
TAB = np.uint8(9)
ONE = np.uint64(1)
EIGHT = np.uint64(8)
HALF = np.uint64(32)
ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
PAIR_BYTES = 1 << 30  # of pairs that are interned at once: a span is counted in 32 bits


@intrinsic
def load_word(typing_context: Any, array: Any, index: Any) -> Any:
    """The eight bytes of a byte array from `index` on as one number; the index is not checked."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        word = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
        return builder.load(word, align=1)

    return types.uint64(array, index), generate


# Indices are unsigned throughout: a signed one is checked for wrapping around at every byte.
@inlined
def word_at(buffer, at, end):  # type: ignore[no-untyped-def]
    """The bytes from `at` to `end`, eight at most, as one number."""
    if at + EIGHT <= np.uint64(buffer.size):
        word = load_word(buffer, at)
        if at + EIGHT > end:
            word &= ALL_BITS >> (EIGHT * (at + EIGHT - end))
        return word
    word = np.uint64(0)
    shift = np.uint64(0)
    while at < end:
        word |= np.uint64(buffer[at]) << shift
        shift += EIGHT
        at += ONE
    return word


@inlined
def hash_bytes(buffer, start, end, hashed):  # type: ignore[no-untyped-def]
    """The hash of what came before, with the bytes of a span and their number added."""
    at = start
    while at < end:
        hashed = (hashed ^ word_at(buffer, at, end)) * PRIME
        hashed ^= hashed >> HALF
        at += EIGHT
    hashed = (hashed ^ (end - start)) * PRIME
    return hashed ^ (hashed >> HALF)


@inlined
def _same_bytes(buffer, start, end, blob, at):  # type: ignore[no-untyped-def]
    """Whether buffer[start:end] is at `at` in the blob."""
    if end + EIGHT > np.uint64(buffer.size) or at + (end - start) + EIGHT > np.uint64(blob.size):
        while start < end and buffer[start] == blob[at]:
            start += ONE
            at += ONE
        return start == end
    while start + EIGHT < end:
        if load_word(buffer, start) != load_word(blob, at):
            return False
        start += EIGHT
        at += EIGHT
    differing = load_word(buffer, start) ^ load_word(blob, at)
    return start == end or (differing << (EIGHT * (start + EIGHT - end))) == np.uint64(0)


@inlined
def _append(buffer, start, end, blob, at):  # type: ignore[no-untyped-def]
    """Copy buffer[start:end] to `at` in the blob; returns where it ends."""
    while start < end:
        blob[at] = buffer[start]
        start += ONE
        at += ONE
    return at


@inlined
def intern_hashed(  # type: ignore[no-untyped-def]
    hashed, buffer, start, end, paired, buffer2, start2, end2, slots, hashes, offsets, blob, used
):
    """Id of buffer[start:end], if `paired` with TAB and buffer2[start2:end2] behind it, or FULL.

    `used` holds one number, that of the ids in use. New strings are appended to `blob`; `offsets` has one entry
    more than there are ids.
    """
    length = end - start
    if paired:
        length += ONE + end2 - start2
    mask = np.uint64(slots.size - 1)
    slot = hashed & mask
    while slots[slot] >= 0:
        found = np.uint64(slots[slot])
        if hashes[found] == hashed:
            at = np.uint64(offsets[found])
            tab = at + (end - start)
            if (
                np.uint64(offsets[found + ONE]) - at == length
                and _same_bytes(buffer, start, end, blob, at)
                and (not paired or (blob[tab] == TAB and _same_bytes(buffer2, start2, end2, blob, tab + ONE)))
            ):
                return np.int64(found)
        slot = (slot + ONE) & mask
    new = used[0]
    at = np.uint64(offsets[new])
    if new + 1 >= hashes.size or 2 * (new + 1) > slots.size or at + length > np.uint64(blob.size):
        return np.int64(FULL)
    at = _append(buffer, start, end, blob, at)
    if paired:
        blob[at] = TAB
        at = _append(buffer2, start2, end2, blob, at + ONE)
    hashes[new] = hashed
    offsets[new + 1] = np.int64(at)
    slots[slot] = new
    used[0] = new + 1
    return new


@kernel
def hash_tokens(buffer, starts, stops, lemma_starts, lemma_stops, out):  # type: ignore[no-untyped-def]
    """Hashes of FORM TAB LEMMA, or of FORM alone where there are no lemmas."""
    for i in range(starts.size):
        hashed = hash_bytes(buffer, np.uint64(starts[i]), np.uint64(stops[i]), SEED)
        if lemma_starts.size > 0:
            hashed = hash_bytes(buffer, np.uint64(lemma_starts[i]), np.uint64(lemma_stops[i]), hashed)
        out[i] = hashed


@kernel
def intern_tokens(  # type: ignore[no-untyped-def]
    buffer, starts, stops, lemma_starts, lemma_stops, flags, hashed, first,
    slots, hashes, offsets, blob, used, tokens,
):  # fmt: skip
    """Ids of tokens with their flags into `tokens`; returns how far it got (not to the end when a table is full).

    With hashes computed before, the processor looks several tokens ahead: twice as fast as hashing each in turn.
    """
    paired = lemma_starts.size > 0
    start2 = end2 = np.uint64(0)
    for i in range(first, starts.size):
        if paired:
            start2, end2 = np.uint64(lemma_starts[i]), np.uint64(lemma_stops[i])
        found = intern_hashed(
            hashed[i], buffer, np.uint64(starts[i]), np.uint64(stops[i]), paired, buffer, start2, end2,
            slots, hashes, offsets, blob, used,
        )  # fmt: skip
        if found == FULL:
            return i
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


def _spans(strings: Strings, begin: int, end: int, which: I64, at: int) -> tuple[U8, Spans]:
    """The bytes of strings begin..end-1, and where some of these start and stop if `at` other bytes come before."""
    low, high = int(strings.offsets[begin]), int(strings.offsets[end])
    starts, stops = (strings.offsets[which + n] - low + at for n in (0, 1))
    return strings.blob[low:high], (starts.astype(np.int32), stops.astype(np.int32))


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

    def add_tokens(self, batch: TokenBatch, tokens: NDArray[np.uint32]) -> None:
        """The tokens of a batch: ids of FORM TAB LEMMA, or of FORM alone, with their flags."""
        lemmas = (batch.lemma_starts, batch.lemma_stops)
        self.add_spans(batch.data, (batch.starts, batch.stops), lemmas, batch.flags, tokens)

    def add_spans(
        self, data: U8, forms: Spans, lemmas: Spans, flags: NDArray[np.uint32], tokens: NDArray[np.uint32]
    ) -> None:
        """The same for any spans of bytes."""
        spans = [read_only(array) for array in (data, *forms, *lemmas)]
        _, starts, stops, lemma_starts, lemma_stops = spans
        hashed = np.empty(starts.size, np.uint64)
        hash_tokens(*spans, hashed)
        done = 0
        while True:
            done = intern_tokens(*spans, read_only(flags), hashed, done, *self.arrays, tokens)
            if done == starts.size:
                return
            longest = int(stops[done] - starts[done])
            if lemma_starts.size:
                longest += 1 + int(lemma_stops[done] - lemma_starts[done])
            self.grow(longest)

    def add_pairs(self, first: Strings, second: Strings, skip: NDArray[np.bool_]) -> I64:
        """Ids of the pairs FIRST TAB SECOND, or of FIRST alone if there is no SECOND; -1 where skipped."""
        out = np.full(len(first), -1, np.int64)
        ends = first.offsets + second.offsets if len(second) else first.offsets
        cuts = np.searchsorted(ends, np.arange(0, ends[-1] + 1, PAIR_BYTES))
        for begin, end in pairwise(np.unique([*cuts, len(first)])):
            kept = begin + np.flatnonzero(~skip[begin:end])
            data, forms = _spans(first, begin, end, kept, 0)
            more, keys = (
                _spans(second, begin, end, kept, data.size) if len(second) else (data[:0], (NONE, NONE))
            )
            ids = np.empty(kept.size, np.uint32)
            self.add_spans(np.concatenate([data, more]), forms, keys, np.zeros_like(ids), ids)
            out[kept] = ids
        return out

    def add(self, strings: Strings) -> I64:
        """Ids of these strings."""
        return self.add_pairs(strings, Strings.of([]), np.zeros(len(strings), np.bool_))

    def bytes_at(self, number: int) -> bytes:
        """The string with this id."""
        return self.blob[self.offsets[number] : self.offsets[number + 1]].tobytes()

    def strings(self) -> Strings:
        """The distinct strings, by id."""
        count = len(self)
        offsets = self.offsets[: count + 1].copy()
        return Strings(self.blob[: int(offsets[count])].copy(), offsets)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.strings())
