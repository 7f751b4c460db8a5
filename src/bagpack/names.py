"""Names of features, `v12:+betw:such as`: built and parsed here alone.

A feature's name is its block, its segment and its term. Blocks: v1 and v2 (contexts of each word), v12 (contexts of the
two together), `v1·v2` (products of v1 and v2, column by column), `cosine` (that of v1 and v2) and `pair` (statistics of
the pair); these two have no terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bagpack.errors import UsageError

WORD_SEGMENTS = ("pre", "post")
PAIR_SEGMENTS = ("+pre", "+betw", "+post", "-pre", "-betw", "-post")
BLOCKS = {"v1": WORD_SEGMENTS, "v2": WORD_SEGMENTS, "v12": PAIR_SEGMENTS}
CONDITIONS = {"v1v2": ("v1", "v2"), "v12": ("v12",), "v1v2v12": ("v1", "v2", "v12")}

PRODUCT, COSINE, STATISTICS = "v1·v2", "cosine", "pair"
STATISTIC_NAMES = ("w1 first", "w2 first", "together", "PMI", "order")
SEGMENTS = {**BLOCKS, PRODUCT: WORD_SEGMENTS, COSINE: ("v1 v2",), STATISTICS: STATISTIC_NAMES}


class Feature(NamedTuple):
    """A feature's name taken apart; statistics and the cosine have an empty term."""

    block: str
    segment: str
    term: str


def blocks_of(condition: str) -> tuple[str, ...]:
    """The blocks that a condition (or a single block) is made of."""
    if condition in BLOCKS:
        return (condition,)
    if condition not in CONDITIONS:
        raise UsageError(f"the condition {condition!r} is unknown; choose one of {', '.join(CONDITIONS)}")
    return CONDITIONS[condition]


def feature_names(terms: Sequence[str], condition: str = "v1v2v12") -> list[str]:
    """`v1:pre:T v1:post:T · v2:… · v12:+pre:T …`, segment by segment, each over all terms."""
    return [name for block in blocks_of(condition) for name in block_features(block, terms)]


def block_features(block: str, terms: Sequence[str]) -> list[str]:
    """Names of a block's columns: `v1:pre:of`, `pair:PMI`."""
    if not over_terms(block):
        return [f"{block}:{segment}" for segment in SEGMENTS[block]]
    return [f"{block}:{segment}:{term}" for segment in SEGMENTS[block] for term in terms]


def over_terms(block: str) -> bool:
    return block not in (STATISTICS, COSINE)


def block_width(block: str, terms: int) -> int:
    """Number of a block's columns over this many terms."""
    return len(SEGMENTS[block]) * (terms if over_terms(block) else 1)


def parse_feature(name: str) -> Feature | None:
    """A feature's name taken apart; None if it is not one.

    >>> parse_feature("v12:-betw:such as")
    Feature(block='v12', segment='-betw', term='such as')
    """
    block, _, rest = name.partition(":")
    segment, _, term = rest.partition(":")
    known = segment in SEGMENTS.get(block, ())
    return Feature(block, segment, term) if known and bool(term) == over_terms(block) else None
