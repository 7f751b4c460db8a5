"""What is looked for: one dataclass, which the command line and the page fill and the library takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bagpack.corpus.words import class_numbers
from bagpack.errors import UsageError
from bagpack.tasks.pairs import Pair


@dataclass(frozen=True)
class FindOptions:
    """What is looked for, and how much of it."""

    label: Any = None  # which one to find, of examples or a model with several
    w1: str | None = None  # only pairs with this word in this place
    w2: str | None = None
    pos1: str | None = None  # parts of speech (`noun,verb`) or `any`; None: those of the examples
    pos2: str | None = None
    among: Iterable[str] | str | Path | None = None  # terms, or a file; None: frequent content words
    known: Iterable[Pair] = ()  # pairs to exclude in addition to the examples, in either order
    top: int = 500
    per_word: int | None = 5  # maximum number of pairs with the same word in a place that is not fixed
    min_count: int | None = None  # of each word: 5, or 1 for a list of words
    min_together: int | None = None  # of each pair: 2, or 1 for a list of words
    scored: int = 25_000  # candidates of each of the two first rankings that are counted in full
    sentences: bool = True
    explain: int = 0  # how many of the first pairs get their reasons
    seed: int = 0  # of the pairs that are drawn from the corpus as negatives

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
