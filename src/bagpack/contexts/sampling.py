"""Which observations a sample takes."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

I64 = NDArray[np.int64]


def drawn_numbers(counts: I64, name: str, limit: int, seed: int) -> list[I64]:
    """Per shard, the numbers of a target's drawn observations; `counts` are the observations in each shard.

    A target draws with a generator of its own, seeded by `seed` and its name, from all its observations in corpus
    order: its sample depends neither on the other targets nor on shards and workers.
    """
    total = int(counts.sum())
    if total > limit:
        own = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
        numbers = np.random.default_rng([seed, own]).choice(total, limit, replace=False, shuffle=False)
        numbers.sort()
    else:
        numbers = np.arange(total)
    ends = np.cumsum(counts)
    cuts = np.searchsorted(numbers, ends)
    return [part - begin for part, begin in zip(np.split(numbers, cuts[:-1]), ends - counts, strict=True)]
