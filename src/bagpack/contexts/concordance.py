"""Concordance: the places that are counted, as they are written, with their segments and their document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from bagpack.arrays import I64, U32
from bagpack.contexts.occurrences import Observations, observe
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import Windows
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.format import GLUED, SENTENCE_START, TYPE_MASK
from bagpack.corpus.segment import Segment
from bagpack.sheets import table_text

Pieces = tuple[str, str, str, str, str, str, str]  # before, left, key, between, key2, right, after

LINES_AT_ONCE = 4096
REST = 60  # tokens of the sentence shown beyond the windows, each side
FIELDS = ("document", "order", "left", "key", "between", "key2", "right", "before", "after")


class Context(NamedTuple):
    """One observation. What is counted is in `left`, `between` and `right`; `before` and `after` are the rest.

    `pieces` are the seven parts in reading order (before, left, key, between, key2, right, after), each with the
    space that precedes it; joined, they are the text as written. `order` is + if the first word comes first, - if the
    second does, ± if they are the same word, and empty for a single word.
    """

    document: str
    order: str
    pieces: Pieces
    segment: int
    position: int  # of the first target, in the segment
    second: int  # of the second target; -1 for a single word

    @property
    def text(self) -> str:
        return "".join(self.pieces).strip()

    def to_dict(self) -> dict[str, str]:
        """The fields by name, without surrounding spaces."""
        before, left, key, between, key2, right, after = (piece.strip() for piece in self.pieces)
        values = (self.document, self.order, left, key, between, key2, right, before, after)
        return dict(zip(FIELDS, values, strict=True))


@dataclass(frozen=True)
class Concordance(Sequence[Context]):
    """Contexts of a word or pair, in corpus order; `total` says how many there are in all."""

    words: tuple[str, ...]
    lines: tuple[Context, ...]
    total: int
    unknown: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, index: Any) -> Any:
        return self.lines[index]

    @property
    def note(self) -> str:
        """How many are shown of how many, or which words are unknown."""
        if self.unknown:
            return f"the corpus does not contain {' and '.join(map(repr, self.unknown))}"
        return f"{len(self):,} of {self.total:,} shown"

    def to_csv(self) -> str:
        return table_text([FIELDS, *(list(line.to_dict().values()) for line in self.lines)], ",")

    def to_dict(self) -> dict[str, Any]:
        return {
            "words": list(self.words),
            "total": self.total,
            "shown": len(self),
            "unknown": list(self.unknown),
            "contexts": [line.to_dict() for line in self.lines],
        }


def show_all(
    corpus: Corpus, found: Observations, lengths: Sequence[int] | Sequence[I64], windows: Windows
) -> list[Context]:
    """The text of observations; `lengths` are the targets' in tokens, first word and second, or arrays of them."""
    segment = corpus.segments[found.segment]
    firsts, seconds = found.firsts, found.seconds
    pair = firsts.size > 0 and seconds[0] >= 0
    first_ends, second_ends = found.ends(lengths)
    left, right = (windows.left, windows.right) if pair else (windows.before, windows.after)
    between: tuple[I64, I64] = (seconds, second_ends) if pair else (first_ends, first_ends)
    pieces = write_lines(segment, firsts, first_ends, *between, left, right)
    number = np.searchsorted(segment.document_starts, firsts.astype(np.uint32), side="right") - 1
    documents, used = np.unique(number, return_inverse=True)
    names = [segment.documents[number] if number >= 0 else "" for number in documents.tolist()]
    signs = ["+-±"[order] if pair else "" for order in found.orders.tolist()]
    return [
        Context(names[document], sign, text, found.segment, first, second)
        for document, sign, text, first, second in zip(
            used.tolist(), signs, pieces, firsts.tolist(), seconds.tolist(), strict=True
        )
    ]


def contexts_of(
    corpus: Corpus, words: tuple[str, ...], resolved: Sequence[Target | None], limit: int | None,
    windows: Windows | None,
) -> Concordance:  # fmt: skip
    """Contexts of the targets of a word, or of a pair, in corpus order; none if one of them is unknown."""
    windows = windows or Windows()
    targets = [target for target in resolved if target is not None]
    if len(targets) < len(words):
        unknown = (word for word, target in zip(words, resolved, strict=True) if target is None)
        return Concordance(words, (), 0, tuple(dict.fromkeys(unknown)))
    found, total = observe(corpus, targets, windows.between, limit)
    lengths = [len(target.keys) for target in targets]
    lines = [show_all(corpus, own, lengths, windows) for own in found]
    return Concordance(words, tuple(chain.from_iterable(lines)), total)


# The text of observations, for many of a segment at once -----------------------------------------------------------


def write_lines(
    segment: Segment, firsts: I64, first_ends: I64, seconds: I64, second_ends: I64, left: int, right: int
) -> list[Pieces]:
    """The pieces of each line, each with the space before its first token unless that was glued to the one before."""
    lines: list[Pieces] = []
    for start in range(0, firsts.size, LINES_AT_ONCE):
        part = slice(start, start + LINES_AT_ONCE)
        one, two = firsts[part], second_ends[part]
        before = tokens_within(segment, one, -1, left + REST)
        after = tokens_within(segment, two, 1, right + REST)
        cuts = np.stack(
            [
                one - before, one - np.minimum(before, left), one, first_ends[part], seconds[part], two,
                two + np.minimum(after, right), two + after,
            ], axis=1,
        )  # fmt: skip
        sizes = cuts[:, -1] - cuts[:, 0]
        begins = np.cumsum(sizes) - sizes
        tokens = segment.tokens[np.repeat(cuts[:, 0] - begins, sizes) + np.arange(int(sizes.sum()))]
        text, ends = _as_written(segment, tokens)
        lines += [
            (text[a:b], text[b:c], text[c:d], text[d:e], text[e:f], text[f:g], text[g:h])
            for a, b, c, d, e, f, g, h in ends[begins[:, None] + cuts - cuts[:, :1]].tolist()
        ]
    return lines


def _as_written(segment: Segment, tokens: U32) -> tuple[str, I64]:
    """Tokens as one text, and where in it each begins, and the last one ends; a string for each takes twice as long."""
    forms, types = segment.forms, (tokens & TYPE_MASK).astype(np.int64)
    starts = forms.offsets[types].astype(np.int64)
    lengths = forms.offsets[types + 1] - starts
    ends = np.cumsum(lengths + (tokens & GLUED == 0))
    out = np.full(ends[-1] if ends.size else 0, ord(" "), np.uint8)
    at = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    out[np.repeat(ends - lengths, lengths) + at] = forms.blob[np.repeat(starts, lengths) + at]
    return out.tobytes().decode(), np.append(0, np.cumsum(out & 0xC0 != 0x80)[ends - 1])  # in characters


def tokens_within(segment: Segment, positions: I64, step: int, most: int) -> I64:
    """How many of the up to `most` tokens from each position on (step 1), or before it (-1), are in its sentence."""
    at = positions[:, None] + step * np.arange(most + 1)
    last = segment.tokens.size - 1
    ends = (segment.tokens[np.clip(at, 0, last)] & SENTENCE_START != 0) | (at <= 0) | (at > last)
    ends[:, most] = True
    inside: I64 = np.argmax(ends, axis=1)
    return inside
