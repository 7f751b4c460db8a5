"""Concordance: the very places that are counted, as they are written, with their segments and their document."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts import kernels, line_kernels
from bagpack.contexts.dividing import runs_of
from bagpack.contexts.targets import Occurrences, Target, TargetKeys, find_occurrences, resolve_targets
from bagpack.contexts.windows import DEFAULT_LIMIT, Windows
from bagpack.corpus.store.shard import Shard

if TYPE_CHECKING:
    from bagpack.corpus.store.corpus import Corpus

LINE_BYTES = 4096  # for which most lines have room
COUPLES_AT_ONCE = 1 << 20  # that many pairs' couples in a shard may take
REST = 60  # tokens of the sentence shown beyond the windows, each side
FIELDS = ("document", "order", "left", "key", "between", "key2", "right", "before", "after")


@dataclass(frozen=True)
class Context:
    """One observation. What is counted is in `left`, `between` and `right`; `before` and `after` are the rest.

    `pieces` are the seven parts in reading order (before, left, key, between, key2, right, after), each with the
    space that stands before it; joined, they are the text as written. `order` is + if the first word stands first,
    - if the second does, ± if they are the same word, and empty for a single word.
    """

    document: str
    order: str
    pieces: tuple[str, str, str, str, str, str, str]
    shard: int
    position: int  # of the first target, in the shard
    second: int  # of the second target; -1 for a single word

    @property
    def text(self) -> str:
        """The sentence as written."""
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
            return f"the corpus does not know {' and '.join(map(repr, self.unknown))}"
        return f"{len(self):,} of {self.total:,} shown"

    def to_csv(self) -> str:
        """All fields, with a header."""
        out = io.StringIO()
        writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(line.to_dict() for line in self.lines)
        return out.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "words": list(self.words),
            "total": self.total,
            "shown": len(self),
            "unknown": list(self.unknown),
            "contexts": [line.to_dict() for line in self.lines],
        }


@dataclass(frozen=True)
class Observation:
    """Where an observation stands: its shard, its targets' starts (second -1 for a word), its order."""

    shard: int
    first: int
    second: int
    order: int


def observations(
    corpus: Corpus, targets: Sequence[Target], limit: int | None, windows: Windows
) -> tuple[list[Observation], int]:
    """The first `limit` observations of a word or a pair of targets, and how many there are in all."""
    found: list[Observation] = []
    total = 0
    keys = TargetKeys(targets)
    for number, shard in enumerate(corpus.shards):
        places = find_occurrences(shard, keys)
        room = None if limit is None else max(0, limit - len(found))
        if len(targets) == 1:
            positions = places.positions(shard.postings, 0)
            total += positions.size
            found += [Observation(number, position, -1, 0) for position in positions[:room].tolist()]
            continue
        starts, seconds, orders = couples(shard, places, windows.between, targets[0] == targets[1])
        total += starts.size
        found += [
            Observation(number, *triple)
            for triple in zip(
                starts[:room].tolist(), seconds[:room].tolist(), orders[:room].tolist(), strict=True
            )
        ]
    return found, total


def couples(
    shard: Shard, places: Occurrences, between: int, equal: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """All couples of the two targets in a shard: starts, second starts, orders."""
    room = int(2 * places.counts.min())
    starts, seconds, orders = (np.empty(room, np.int64) for _ in range(3))
    found = np.zeros(2, np.int64)
    sources = [places.extra if extra else shard.postings for extra in places.is_extra]
    lows, highs, lengths = places.lows, places.highs, places.lengths
    if equal:
        written = kernels.find_repeats(
            shard.tokens, sources[0], lows[0], highs[0], lengths[0], between, starts, seconds, orders, found
        )
    else:
        written = kernels.find_couples(
            shard.tokens, sources[0], lows[0], highs[0], lengths[0], sources[1], lows[1], highs[1], lengths[1],
            between, starts, seconds, orders, found,
        )  # fmt: skip
    return starts[:written], seconds[:written], orders[:written]


def show(
    corpus: Corpus, observation: Observation, lengths: Sequence[int], windows: Windows, rest: int = REST
) -> Context:
    """The text of one observation; `lengths` are the targets' in tokens, first word and second."""
    shard = corpus.shards[observation.shard]
    first, second = observation.first, observation.second
    reversed_order = observation.order == kernels.MINUS
    first_end = first + lengths[1 if reversed_order else 0]
    if second < 0:
        pieces = _pieces(shard, first, first_end, first_end, first_end, windows.before, windows.after, rest)
    else:
        second_end = second + lengths[0 if reversed_order else -1]
        pieces = _pieces(shard, first, first_end, second, second_end, windows.left, windows.right, rest)
    order = "" if second < 0 else "+-±"[observation.order]
    return Context(shard.document_at(first), order, pieces, observation.shard, first, second)


def _pieces(
    shard: Shard, first: int, first_end: int, second: int, second_end: int, left: int, right: int, rest: int
) -> tuple[str, str, str, str, str, str, str]:
    """The seven pieces of a line as written, each with the space before its first token if it was not glued."""
    ends = np.empty(line_kernels.PIECES, np.int64)
    size = LINE_BYTES
    while True:
        out = np.empty(size, np.uint8)
        size = int(
            line_kernels.write_line(
                shard.tokens, shard.forms.blob, shard.forms.offsets, first, first_end, second, second_end,
                left, right, rest, out, ends,
            )
        )  # fmt: skip
        if size <= out.size:
            break
    line = out[:size].tobytes()
    cuts = ends.tolist()
    return (
        line[: cuts[0]].decode(), line[cuts[0] : cuts[1]].decode(), line[cuts[1] : cuts[2]].decode(),
        line[cuts[2] : cuts[3]].decode(), line[cuts[3] : cuts[4]].decode(), line[cuts[4] : cuts[5]].decode(),
        line[cuts[5] :].decode(),
    )  # fmt: skip


def find_contexts(
    corpus: Corpus, w1: str, w2: str | None = None, *, limit: int | None = DEFAULT_LIMIT,
    windows: Windows | None = None, rest: int = REST,
) -> Concordance:  # fmt: skip
    """Contexts of a word, or of a pair, in corpus order."""
    windows = windows or Windows()
    words = (w1,) if w2 is None else (w1, w2)
    resolved = resolve_targets(corpus, words)
    unknown = tuple(word for word, target in zip(words, resolved, strict=True) if target is None)
    targets = [target for target in resolved if target is not None]
    if unknown:
        return Concordance(words, (), 0, tuple(dict.fromkeys(unknown)))
    found, total = observations(corpus, targets, limit, windows)
    lengths = [len(target.keys) for target in targets]
    return Concordance(words, tuple(show(corpus, item, lengths, windows, rest) for item in found), total)


def find_contexts_of(
    corpus: Corpus, pairs: Iterable[tuple[str, str]], *, limit: int | None = DEFAULT_LIMIT,
    windows: Windows | None = None, rest: int = REST,
) -> list[Concordance]:  # fmt: skip
    """What `find_contexts` finds for each of many pairs, in one pass over the shards."""
    windows = windows or Windows()
    asked = list(pairs)
    words = list(dict.fromkeys(chain.from_iterable(asked)))
    target_of = dict(zip(words, resolve_targets(corpus, words), strict=True))
    number = {target: n for n, target in enumerate(dict.fromkeys(t for t in target_of.values() if t))}
    numbers = [[number.get(target_of[word], -1) for word in pair] for pair in asked]  # type: ignore[arg-type]
    known = [k for k, pair in enumerate(numbers) if min(pair) >= 0]
    found: list[list[Observation]] = [[] for _ in asked]
    totals = [0] * len(asked)
    if known:
        members = np.array([numbers[k] for k in known], np.int64)
        keys = TargetKeys(list(number))
        for place, shard in enumerate(corpus.shards):
            for k, (starts, seconds, orders) in _couples_of_each(shard, keys, members, windows.between):
                pair = known[k]
                totals[pair] += len(starts)
                room = None if limit is None else max(0, limit - len(found[pair]))
                triples = zip(starts[:room], seconds[:room], orders[:room], strict=True)
                found[pair] += [Observation(place, *triple) for triple in triples]
    result = []
    for both, own, total in zip(asked, found, totals, strict=True):
        unknown = tuple(dict.fromkeys(word for word in both if target_of[word] is None))
        lengths = [len(target.keys) for word in both if (target := target_of[word])]
        lines = tuple(show(corpus, item, lengths, windows, rest) for item in own)
        result.append(Concordance(both, lines, total, unknown))
    return result


def _couples_of_each(
    shard: Shard, keys: TargetKeys, members: NDArray[np.int64], between: int
) -> Iterator[tuple[int, tuple[list[int], list[int], list[int]]]]:
    """Pairs of targets that meet in a shard, with their couples: starts, second starts, orders."""
    places = find_occurrences(shard, keys)
    most = 2 * places.counts[members].min(axis=1)
    for part in runs_of(most, COUPLES_AT_ONCE, most.size):
        starts, seconds, orders = (np.empty(int(most[part].sum()), np.int64) for _ in range(3))
        ends = np.zeros(part.stop - part.start, np.int64)
        ones, twos = members[part, 0].copy(), members[part, 1].copy()
        line_kernels.find_couples_of_each(
            shard.tokens, shard.postings, places.extra, places.is_extra, places.lows, places.highs, places.lengths,
            ones, twos, between, starts, seconds, orders, ends,
        )  # fmt: skip
        lows = ends - np.diff(ends, prepend=0)
        for k in np.flatnonzero(lows < ends).tolist():
            own = slice(int(lows[k]), int(ends[k]))
            yield part.start + k, (starts[own].tolist(), seconds[own].tolist(), orders[own].tolist())
