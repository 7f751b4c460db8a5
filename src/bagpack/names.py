"""The columns of pair vectors: their names, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from bagpack.errors import UsageError

WORD_SEGMENTS = ("pre", "post")
PAIR_SEGMENTS = ("+pre", "+betw", "+post", "-pre", "-betw", "-post")
BLOCKS = {"v1": WORD_SEGMENTS, "v2": WORD_SEGMENTS, "v12": PAIR_SEGMENTS}
CONDITIONS = {"v1v2": ("v1", "v2"), "v12": ("v12",), "v1v2v12": ("v1", "v2", "v12")}


def blocks_of(condition: str) -> tuple[str, ...]:
    """The blocks that a condition (or a single block) is made of."""
    if condition in BLOCKS:
        return (condition,)
    if condition not in CONDITIONS:
        raise UsageError(f"the condition {condition!r} is unknown; choose one of {', '.join(CONDITIONS)}")
    return CONDITIONS[condition]


def feature_names(terms: Sequence[str], condition: str = "v1v2v12") -> list[str]:
    """`v1:pre:T v1:post:T · v2:… · v12:+pre:T …`, segment by segment, each over all terms."""
    return [
        f"{block}:{segment}:{term}"
        for block in blocks_of(condition)
        for segment in BLOCKS[block]
        for term in terms
    ]
