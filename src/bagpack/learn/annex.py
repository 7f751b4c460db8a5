"""What may stand beside the three vectors: counts that only some presets ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from scipy import sparse

if TYPE_CHECKING:
    from bagpack.learn.types import Csr, Floats

BORROWED = "v12~"  # contexts of similar pairs, over the columns of v12
GAPS = "gap"  # how far apart the words stand
WHOLE = "whole"  # all that stands between them
CONTENT = "content"  # content words in a wider window


@dataclass(frozen=True)
class Beside:
    """What is to be counted beside v1, v2 and v12.

    Parameters
    ----------
    neighbours
        How many similar words of each word may lend the contexts of their pairs.
    content
        How many content words are looked for in a wider window around each word; or those words.
    whole
        How many whole stretches between the words are counted, those that most pairs share; or those stretches.

    0 is nothing; no words at all are what a corpus or a set had to offer, and still a table, without columns.
    """

    neighbours: int = 0
    content: int | tuple[str, ...] = 0
    whole: int | tuple[str, ...] = 0

    def __bool__(self) -> bool:
        return any(wanted != 0 for wanted in (self.neighbours, self.content, self.whole))

    def over(self, vocabularies: Mapping[str, tuple[str, ...]]) -> Beside:
        """The same, over terms that were chosen before."""
        return replace(
            self,
            content=vocabularies.get(CONTENT, self.content),
            whole=vocabularies.get(WHOLE, self.whole),
        )


NOTHING = Beside()


@dataclass(frozen=True)
class Annex:
    """A table of counts over terms of its own.

    Parameters
    ----------
    rows
        One per pair, the left half of the columns for w1 first and the right half for w2 first; or one per word.
    terms
        What the columns are about; None where they are those of another block, or few and fixed.
    shares
        How frequent each term is in the corpus.
    of_words
        Whether rows are those of the table of words.
    """

    rows: Csr
    terms: tuple[str, ...] | None = None
    shares: Floats | None = None
    of_words: bool = False

    def of(self, pairs: Any) -> Annex:
        """The table for some of the pairs."""
        return self if self.of_words else replace(self, rows=self.rows[pairs])

    def turned(self) -> Annex:
        """The table for the same pairs the other way round."""
        return self if self.of_words else replace(self, rows=turned(self.rows))

    def followed_by(self, more: Annex, same_words: bool) -> Annex:
        """The table for two sets of pairs, one after the other, which share their table of words or do not."""
        if self.terms != more.terms:
            raise ValueError("the two sets of pairs were counted over different terms")
        return self if self.of_words and same_words else replace(self, rows=stacked(self.rows, more.rows))


def turned(rows: Csr) -> Csr:
    """The left half of the columns to the right, and the other way round: what was + is −."""
    half = rows.shape[1] // 2
    return sparse.csr_array(sparse.hstack([rows[:, half:], rows[:, :half]], format="csr"))


def stacked(first: Csr, second: Csr) -> Csr:
    """The rows of both."""
    return sparse.csr_array(sparse.vstack([first, second], format="csr"))
