"""Labelled pairs that ship with the package, so that there is something to train on from the first minute.

`relations.tsv` was written for BagPack out of general knowledge, no list being copied: 17 relations, 50 pairs each, of
common English words that meet in encyclopedic prose. Reading left to right, a pair says: w1 is a kind of w2
(`hypernym`), a part of it, a member of it, made of it, found in it (`location`), does it (`agent-action`), and so on.
`random` pairs words of the others without a relation, so that their words alone do not give them away.

Candidates were kept for being seen together in encyclopedic text, the more often the better, so scores on this set
flatter any corpus of that kind: it is for trying things out, not for comparing with published results. Random pairs
meet less often than related ones, so that on a small corpus "never seen together" already hints at `random`.
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
