"""The text of observations: seven pieces each, as written, for many observations of a shard at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.store.format import GLUED, SENTENCE_START, TYPE_MASK
from bagpack.corpus.store.shard import Shard

I64 = NDArray[np.int64]
Pieces = tuple[str, str, str, str, str, str, str]  # before, left, key, between, key2, right, after

AT_ONCE = 4096  # lines


def write_lines(
    shard: Shard, firsts: I64, first_ends: I64, seconds: I64, second_ends: I64, left: int, right: int, rest: int
) -> list[Pieces]:  # fmt: skip
    """The pieces of each line, each with the space before its first token unless that was glued to the one before."""
    lines: list[Pieces] = []
    for start in range(0, firsts.size, AT_ONCE):
        part = slice(start, start + AT_ONCE)
        before = _tokens_within(shard, firsts[part], -1, left + rest)
        after = _tokens_within(shard, second_ends[part], 1, right + rest)
        cuts = np.stack(
            [
                firsts[part] - before, firsts[part] - np.minimum(before, left), firsts[part], first_ends[part],
                seconds[part], second_ends[part], second_ends[part] + np.minimum(after, right),
                second_ends[part] + after,
            ], axis=1,
        )  # fmt: skip
        text, ends = _text(shard, cuts)
        lines += [
            (text[a:b], text[b:c], text[c:d], text[d:e], text[e:f], text[f:g], text[g:h])
            for a, b, c, d, e, f, g, h in ends.tolist()
        ]
    return lines


def _tokens_within(shard: Shard, positions: I64, step: int, most: int) -> I64:
    """How many of the up to `most` tokens from each position on (step 1), or before it (-1), are in its sentence."""
    at = positions[:, None] + step * np.arange(most + 1)
    last = shard.tokens.size - 1
    ends = (shard.tokens[np.clip(at, 0, last)] & SENTENCE_START != 0) | (at <= 0) | (at > last)
    ends[:, most] = True
    inside: I64 = np.argmax(ends, axis=1)
    return inside


def _text(shard: Shard, cuts: I64) -> tuple[str, I64]:
    """The tokens cuts[i, 0]..cuts[i, -1] of all lines as one text, and where in it each cut is."""
    sizes = cuts[:, -1] - cuts[:, 0]
    begins = np.cumsum(sizes) - sizes
    tokens = shard.tokens[np.repeat(cuts[:, 0] - begins, sizes) + np.arange(int(sizes.sum()))]
    types = (tokens & TYPE_MASK).astype(np.int64)
    offsets = shard.forms.offsets
    sources = offsets[types].astype(np.int64)
    lengths = offsets[types + 1] - sources
    ends = np.cumsum(lengths + (tokens & GLUED == 0))
    out = np.full(int(ends[-1]) if ends.size else 0, ord(" "), np.uint8)
    before = np.cumsum(lengths) - lengths
    byte = np.arange(int(lengths.sum()))
    out[np.repeat(ends - lengths - before, lengths) + byte] = shard.forms.blob[
        np.repeat(sources - before, lengths) + byte
    ]
    text = out.tobytes().decode()
    if len(text) < out.size:  # count characters, not bytes
        ends = np.cumsum(out & 0xC0 != 0x80)[ends - 1]
    bounds = np.concatenate([[0], ends])
    return text, bounds[begins[:, None] + cuts - cuts[:, :1]]
