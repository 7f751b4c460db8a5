"""What is looked for: one dataclass, which the command line and the page fill and the library takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bagpack.errors import UsageError
from bagpack.tasks.pairs import Pair
from bagpack.vectors.word_classes import class_numbers


@dataclass(frozen=True)
class FindOptions:
    """What is looked for.

    Parameters
    ----------
    label
        Which label to find, of examples or a model with several.
    w1, w2
        Only pairs with this word in this place.
    pos1, pos2
        Parts of speech in each place, such as ``noun,verb``; ``any`` for all. None: those that the examples have.
    among
        The words and multi-word terms that pairs are made of, or a file with one on each line. None takes the frequent
        words of the corpus without its function words.
    known
        Pairs to exclude in addition to the examples, in either order.
    top
        How many pairs to return.
    per_word
        At most this many pairs with the same word in the same place; None for no limit. A fixed word is exempt.
    min_count, min_together
        How often a word must occur, and a pair co-occur; None: 5 times and twice, once each for a list of words.
    scored
        How many candidates of each of the two first rankings are counted in full.
    sentences
        Whether to look for the best sentence of each pair.
    explain
        How many of the first pairs get their reasons.
    seed
        Of the pairs that are drawn from the corpus as negatives.
    """

    label: Any = None
    w1: str | None = None
    w2: str | None = None
    pos1: str | None = None
    pos2: str | None = None
    among: Iterable[str] | str | Path | None = None
    known: Iterable[Pair] = ()
    top: int = 500
    per_word: int | None = 5
    min_count: int | None = None
    min_together: int | None = None
    scored: int = 25_000
    sentences: bool = True
    explain: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("top", "per_word", "min_count", "min_together", "scored"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1, not {value}")
        if self.w1 is not None and self.w1 == self.w2:
            raise UsageError(f"--w1 and --w2 are the same word, {self.w1}; give two words, or one of them")
        for option, names in (("--pos1", self.pos1), ("--pos2", self.pos2)):
            class_numbers(names or "", option)

    @property
    def fixed(self) -> tuple[bool, bool]:
        """Whether the first and the second word are given."""
        return self.w1 is not None, self.w2 is not None
