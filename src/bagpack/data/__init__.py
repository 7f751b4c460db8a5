"""Labelled pairs that ship with the package, for a first model.

`relations.tsv` was written for BagPack from general knowledge; no list was copied. It has 17 relations with 50 pairs
each, of common English words that co-occur in encyclopedic text. From left to right, w1 is a kind of w2 (`hypernym`),
a part of it, a member of it, made of it, found in it (`location`), does it (`agent-action`), and so on. `random`
recombines words of the other pairs without a relation, so that single words do not give them away.

Pairs that often co-occur in encyclopedic text were preferred, so scores on this data set are optimistic for any such
corpus: use it to try things out, not to compare with published results. Random pairs co-occur less often than related
ones, so on a small corpus "never seen together" already suggests `random`.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def relations_path() -> Path:
    """The labelled pairs: TSV with the header `w1`, `w2`, `label`.

    >>> relations_path().name
    'relations.tsv'
    """
    return Path(str(files(__name__) / "relations.tsv"))
