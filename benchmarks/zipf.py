"""A corpus of any size made on the spot: vertical text whose words follow Zipf's law, and pairs to ask of it.

Nothing is kept but one buffer. A word *is* its rank: its letters and its frequency are computed from it.

- Frequency: two regimes (Ferrer i Cancho & Solé 2001), p(r) ∝ 1 / (r + 2.7) up to rank 8,000 as Mandelbrot has it,
  then ∝ 1 / r². So the vocabulary never ends: some 0.2 million lemmas in 10 million tokens, 1.7 in a billion.
- Neighbours: every fifth token is one of eight companions of the word before, so bigrams repeat and pairs co-occur.
- Sentences are log-normal with about 21 tokens, documents have 35 sentences on average. Every fourth token is
  inflected, and a sentence begins with a capital letter, so there are more forms than lemmas.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import numba
import numpy as np

Q = 2.7
KERNEL = 8000
LENGTH_MEDIAN, LENGTH_SIGMA, LENGTH_MOST = 18.0, 0.6, 120
SENTENCES = 35.0
COMPANIONS = 8
COMPANION_SHARE = 0.2
COMPANION_FROM = 50  # the companions of the most frequent words would be far too frequent themselves
CHUNK = 1 << 18
WIDEST = 96  # bytes that a token can take at most, its share of the markup included

HEAD_MASS = math.log((KERNEL + Q) / Q)
TAIL_MASS = KERNEL / (KERNEL + Q)
WHOLE = HEAD_MASS + TAIL_MASS
HEAD = HEAD_MASS / WHOLE
TOP_RANK = 1 << 40

# The words of BLESS in 72 million tokens: the logarithm of their relative frequency is all but normal.
LOG_FREQUENCY, LOG_SPREAD = -11.8, 2.0

_SYLLABLES = np.array(
    [[c, v] for c in b"tnshrdlmcfgwypbvkzjx" for v in b"eaoiu"],
    dtype=np.uint8,
)
_ENDINGS = np.zeros((4, 3), dtype=np.uint8)
for _row, _ending in enumerate((b"", b"s", b"ed", b"ing")):
    _ENDINGS[_row, : len(_ending)] = list(_ending)
_ENDING_LENGTH = np.array([0, 1, 2, 3])
_TAGS = np.zeros((4, 3), dtype=np.uint8)
for _row, _tag in enumerate((b"NN", b"NNS", b"VVD", b"VVG")):
    _TAGS[_row, : len(_tag)] = list(_tag)
_TAG_LENGTH = np.array([2, 3, 3, 3])


def write_zipf_vertical(path: str | Path, tokens: int, seed: int = 0) -> int:
    """Write vertical text (word TAB tag TAB lemma) of exactly ``tokens`` tokens; returns its bytes.

    Different seeds give different text over the same words, so a large corpus may be several files.
    """
    state = np.array(
        [_mixed(np.uint64(seed + 1)), 0, 0], dtype=np.uint64
    )  # randomness, document, sentences left
    buffer = np.empty(WIDEST * CHUNK, dtype=np.uint8)
    written = 0
    with open(path, "wb", buffering=0) as out:
        left = tokens
        while left > 0:
            some = min(left, CHUNK)
            size = _write_chunk(buffer, state, some, seed)
            out.write(memoryview(buffer)[:size])
            written += size
            left -= some
        written += out.write(b"</text>\n" if tokens else b"")
    return written


def zipf_pairs(
    count: int, seed: int = 0, *, tokens: int = 0, words_per_pair: float = 0.3, companions: float = 0.5
) -> list[tuple[str, str]]:
    """Different ordered pairs of different words, as frequent as the words of a data set.

    A word serves in several pairs, as in BLESS; ``companions`` of the pairs are a word and a companion of it, which
    co-occur, the others are drawn independently. With ``tokens``, every word is expected at least twice in a corpus of
    that size.
    """
    rng = np.random.default_rng(seed)
    lowest = max(2 / tokens, 1e-9) if tokens else 1e-9

    def draw(number: int) -> np.ndarray:
        frequency = np.exp(rng.normal(LOG_FREQUENCY, LOG_SPREAD, 4 * number + 100))
        kept = frequency[(frequency > lowest) & (frequency < 2e-3)]
        return np.array([rank_of_frequency(each) for each in kept[:number]], dtype=np.int64)

    first = np.unique(draw(max(2, round(count * words_per_pair))))
    top = rank_of_frequency(lowest)
    pairs: dict[tuple[int, int], None] = {}
    while len(pairs) < count:
        one = int(rng.choice(first))
        two = (
            int(_companion(one, int(rng.integers(COMPANIONS))))
            if rng.random() < companions
            else int(rng.choice(first))
        )
        if one != two and COMPANION_FROM <= two <= top:
            pairs[one, two] = None
    return [(zipf_word(one), zipf_word(two)) for one, two in pairs]


def zipf_word(rank: int) -> str:
    """The lemma of a rank, from 0; short where it is frequent."""
    buffer = np.empty(64, dtype=np.uint8)
    return buffer[: _spell(buffer, 0, rank)].tobytes().decode()


def frequency_of_rank(rank: int) -> float:
    """The share of a rank in the words, but for companions."""
    if rank >= KERNEL:
        return (KERNEL / rank - KERNEL / (rank + 1)) * TAIL_MASS / WHOLE
    return math.log((rank + 1 + Q) / (rank + Q)) / WHOLE


def rank_of_frequency(frequency: float) -> int:
    """The rank that has about this share."""
    rank = 1 / (frequency * WHOLE) - Q - 0.5
    if rank >= KERNEL:
        rank = math.sqrt(KERNEL * TAIL_MASS / (frequency * WHOLE))
    return max(0, int(rank))


# Kernels --------------------------------------------------------------------------------------------------------


@numba.njit(cache=True, inline="always")
def _mixed(x):
    """splitmix64's finaliser."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@numba.njit(cache=True, inline="always")
def _unit(x):
    """A number in (0, 1] from 64 random bits."""
    return (np.float64(x >> np.uint64(11)) + 1.0) * (1.0 / 9007199254740992.0)


@numba.njit(cache=True)
def _rank(u):
    """The inverse of the cumulated frequencies."""
    if u <= HEAD:
        return np.int64(min(KERNEL - 1, Q * math.exp(u * WHOLE) - Q))
    rest = max((1.0 - u) / (1.0 - HEAD), 1e-16)
    return np.int64(min(KERNEL / rest, TOP_RANK))


@numba.njit(cache=True)
def _companion(rank, which):
    return _rank(_unit(_mixed(np.uint64(rank * COMPANIONS + which + 1))))


@numba.njit(cache=True)
def _spell(out, at, rank):
    """Bijective base-100 syllables: no two ranks share a word."""
    begin = at
    left = rank + 1
    while left > 0:
        left -= 1
        digit = left % 100
        left //= 100
        out[at] = _SYLLABLES[digit, 0]
        out[at + 1] = _SYLLABLES[digit, 1]
        at += 2
    return at - begin


@numba.njit(cache=True)
def _put(out, at, text):
    for byte in text:
        out[at] = byte
        at += 1
    return at


@numba.njit(cache=True)
def _put_number(out, at, number):
    digits = 1
    power = 10
    while number >= power:
        power *= 10
        digits += 1
    for k in range(digits):
        out[at + digits - 1 - k] = 48 + number % 10
        number //= 10
    return at + digits


_OPEN = np.frombuffer(b'<text id="zipf:', dtype=np.uint8)
_CLOSE = np.frombuffer(b"</text>\n", dtype=np.uint8)
_OPEN_SENTENCE = np.frombuffer(b"<s>\n", dtype=np.uint8)
_CLOSE_SENTENCE = np.frombuffer(b"</s>\n", dtype=np.uint8)
_STOP = np.frombuffer(b".\tSENT\t.\n", dtype=np.uint8)


@numba.njit(cache=True)
def _write_chunk(out, state, tokens, seed):
    """Whole sentences of ``tokens`` tokens together; the last one is cut short. Returns the bytes."""
    at = 0
    made = 0
    x = state[0]
    step = np.uint64(0x9E3779B97F4A7C15)
    while made < tokens:
        if state[2] == np.uint64(0):
            if state[1] > np.uint64(0):
                at = _put(out, at, _CLOSE)
            at = _put(out, at, _OPEN)
            at = _put_number(out, at, np.int64(seed))
            out[at] = 45
            at = _put_number(out, at + 1, np.int64(state[1]))
            out[at] = 34
            out[at + 1] = 62
            out[at + 2] = 10
            at += 3
            state[1] += np.uint64(1)
            x += step
            state[2] = np.uint64(1 + min(5000.0, -math.log(_unit(_mixed(x))) * SENTENCES))
        state[2] -= np.uint64(1)
        x += step
        radius = math.sqrt(-2.0 * math.log(_unit(_mixed(x))))
        x += step
        normal = radius * math.cos(6.283185307179586 * _unit(_mixed(x)))
        length = np.int64(LENGTH_MEDIAN * math.exp(LENGTH_SIGMA * normal))
        length = min(max(length, 2), LENGTH_MOST, tokens - made)
        at = _put(out, at, _OPEN_SENTENCE)
        before = np.int64(-1)
        for place in range(length - 1):
            x += step
            bits = _mixed(x)
            if before >= COMPANION_FROM and (bits & np.uint64(0xFFFF)) < COMPANION_SHARE * 65536:
                rank = _companion(before, np.int64((bits >> np.uint64(16)) & np.uint64(COMPANIONS - 1)))
            else:
                rank = _rank(_unit(_mixed(bits + step)))
            before = rank
            # Sixteen chances: twelve plain, two with s, one each with ed and ing.
            chance = np.int64((bits >> np.uint64(32)) & np.uint64(15))
            ending = 0 if chance < 12 else (1 if chance < 14 else chance - 12)
            begin = at
            size = _spell(out, at, rank)
            at += size
            for k in range(_ENDING_LENGTH[ending]):
                out[at + k] = _ENDINGS[ending, k]
            at += _ENDING_LENGTH[ending]
            out[at] = 9
            at += 1
            for k in range(_TAG_LENGTH[ending]):
                out[at + k] = _TAGS[ending, k]
            at += _TAG_LENGTH[ending]
            out[at] = 9
            at += 1
            for k in range(size):
                out[at + k] = out[begin + k]
            at += size
            out[at] = 10
            at += 1
            if place == 0:
                out[begin] -= 32
        at = _put(out, at, _STOP)
        at = _put(out, at, _CLOSE_SENTENCE)
        made += length
    state[0] = x
    return at


def main() -> None:
    """Write a corpus from the command line, and say how fast."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path")
    parser.add_argument("tokens", type=float)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    write_zipf_vertical(options.path, 1000, options.seed)
    begun = time.perf_counter()
    size = write_zipf_vertical(options.path, int(options.tokens), options.seed)
    seconds = time.perf_counter() - begun
    print(f"{size / 1e6:,.0f} MB in {seconds:.1f} s, {options.tokens / seconds / 1e6:.1f} M tokens/s")


if __name__ == "__main__":
    main()
