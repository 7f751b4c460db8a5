"""From the words a user names to their occurrences in a shard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.forms import usual_keys
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.format import SENTENCE_START, TYPE_MASK
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.store.strings import Strings
from bagpack.corpus.text.casefold import folding
from bagpack.corpus.text.characters import is_ideographic
from bagpack.corpus.text.tagsets import CODES, split_tag
from bagpack.corpus.text.tokenizer import split_word
from bagpack.errors import UsageError
from bagpack.jit import read_only

I64 = NDArray[np.int64]
U32 = NDArray[np.uint32]

TAG_MARK = "\ufdd1"  # divides a key from the part of speech that its tokens must have
HIDDEN_MARK = "\ufdd0"  # a noncharacter with which a source may open keys of its own making; never shown
Piece = tuple[str, str]  # a word, and the part of speech that was written behind it, or nothing
NO_POSITIONS: U32 = np.empty(0, np.uint32)


@dataclass(frozen=True, order=True)
class Target:
    """A word as it is found in a corpus: one key, or a run of keys for a multi-word target.

    A key may end in TAG_MARK and a universal part of speech; then only tokens of that part of speech count.
    """

    keys: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(key.lstrip(HIDDEN_MARK).replace(TAG_MARK, "/") for key in self.keys)

    @property
    def words(self) -> tuple[str, ...]:
        """The keys without parts of speech."""
        return tuple(key.partition(TAG_MARK)[0] for key in self.keys)

    @property
    def is_key(self) -> bool:
        """Whether it is all tokens of one key, whose count the lexicon has."""
        return len(self.keys) == 1 and TAG_MARK not in self.keys[0]


def resolve_targets(corpus: Corpus, words: Sequence[str]) -> list[Target | None]:
    """The target of each word; None if the corpus does not have it.

    A word is looked up as it is written; failing that, it is taken as a run of words, divided by spaces or (as in
    WordNet's radiation_therapy) underscores, and where a script has neither, as the tokenizer divides it. Each of
    them may have a part of speech behind it (saw/NOUN), if the corpus has parts of speech.
    """
    distinct = list(dict.fromkeys(words))
    target_of = dict(zip(distinct, _resolve_distinct(corpus, distinct), strict=True))
    return [target_of[word] for word in words]


def _resolve_distinct(corpus: Corpus, words: Sequence[str]) -> list[Target | None]:
    whole = corpus.resolve(words)
    targets: list[Target | None] = [None if key is None else Target((key,)) for key in whole]
    pieces_of: dict[int, list[str]] = {}
    for index in [index for index, key in enumerate(whole) if key is None]:
        word = words[index]
        pieces = word.replace("_", " ").split()
        tagged = any(_divide(piece, corpus)[1] for piece in pieces)
        if len(pieces) > 1 or (pieces and pieces[0] != word) or tagged or is_ideographic(word):
            pieces_of[index] = pieces
    if pieces_of:
        for index, run in zip(pieces_of, _resolve_runs(corpus, list(pieces_of.values())), strict=True):
            targets[index] = run
    return targets


def _divide(piece: str, corpus: Corpus) -> Piece:
    """A word and the part of speech behind it."""
    word, tag = split_tag(piece)
    if not tag or corpus.tags:  # in this order: a subcorpus counts its tags
        return word, tag
    if not piece.endswith(f"/{tag}"):  # a short form, which is more likely part of a word: N/A
        return piece, ""
    raise UsageError(
        f"{corpus.name} has no parts of speech, so {piece} cannot be counted; write {word}, or index text that has them"
    )


def _resolve_runs(corpus: Corpus, runs: Sequence[Sequence[str]]) -> list[Target | None]:
    """The target of each run of words: their lemmas, if these ever follow one another.

    Failing that, the most frequent lemmas of their forms: running water → run water.
    """
    key_of = _keys_of(corpus, chain.from_iterable(runs))
    divided = [
        [_divide(piece, corpus) if key_of[piece] is None else (piece, "") for piece in run] for run in runs
    ]
    key_of |= _keys_of(corpus, (word for run in divided for word, _ in run))
    cut = [[part for piece in run for part in _cut(piece, key_of, corpus)] for run in divided]
    key_of |= _keys_of(corpus, (word for run in cut for word, _ in run))
    targets = [_target(key_of.get, run) for run in cut]
    found = _occurring(corpus, targets)
    absent = [index for index, target in enumerate(targets) if target is not None and target not in found]
    if absent:
        fold = folding(corpus.options)
        usual = usual_keys(corpus, [fold(word) for index in absent for word, _ in cut[index]])
        for index in absent:
            targets[index] = _target(lambda word: usual.get(fold(word), key_of[word]), cut[index])
        found |= _occurring(corpus, [targets[index] for index in absent])
    return [target if target in found else None for target in targets]


def _keys_of(corpus: Corpus, words: Iterable[str]) -> dict[str, str | None]:
    distinct = list(dict.fromkeys(words))
    return dict(zip(distinct, corpus.resolve(distinct), strict=True))


def _cut(piece: Piece, key_of: Mapping[str, str | None], corpus: Corpus) -> list[Piece]:
    """Ideographs and kana are tokens of one character each in raw text, unless the corpus has them together."""
    word, tag = piece
    if key_of[word] is not None or not is_ideographic(word):
        return [piece]
    *before, last = split_word(word, corpus.options.lang)
    return [*((part, "") for part in before), (last, tag)]


def _target(key_of: Callable[[str], str | None], run: Sequence[Piece]) -> Target | None:
    found = [(key_of(word), tag) for word, tag in run]
    keys = [f"{key}{TAG_MARK}{tag}" if tag else key for key, tag in found if key is not None]
    return Target(tuple(keys)) if keys and len(keys) == len(run) else None


def _occurring(corpus: Corpus, targets: Iterable[Target | None]) -> set[Target]:
    """Those that occur in the corpus; every single key does."""
    found = {target for target in targets if target is not None and target.is_key}
    left = sorted({target for target in targets if target is not None} - found)
    for shard in corpus.shards:
        if not left:
            break
        counts = find_occurrences(shard, left).counts
        found |= {target for target, count in zip(left, counts, strict=True) if count}
        left = [target for target, count in zip(left, counts, strict=True) if not count]
    return found


@dataclass(frozen=True)
class Occurrences:
    """Positions of targets in one shard: (extra if is_extra[t] else postings)[lows[t]:highs[t]], lengths[t] tokens."""

    lows: I64
    highs: I64
    lengths: I64
    is_extra: NDArray[np.bool_]
    extra: U32

    @property
    def counts(self) -> I64:
        """Occurrences of each target."""
        return self.highs - self.lows

    def positions(self, postings: U32, target: int) -> U32:
        """Positions of a target."""
        source = self.extra if self.is_extra[target] else postings
        return source[int(self.lows[target]) : int(self.highs[target])]

    def move(self, positions: dict[int, U32]) -> Occurrences:
        """New positions for some of the targets."""
        lows, highs, is_extra = self.lows.copy(), self.highs.copy(), self.is_extra.copy()
        size = self.extra.size
        for n, array in positions.items():
            lows[n], highs[n], is_extra[n] = size, size + array.size, True
            size += array.size
        extra = np.concatenate([self.extra, *positions.values()])
        return Occurrences(lows, highs, self.lengths, is_extra, read_only(extra))


class TargetKeys:
    """Targets encoded once, to be looked up in many shards."""

    def __init__(self, targets: Sequence[Target]) -> None:
        runs = [target.keys for target in targets]
        self.lengths = np.fromiter(map(len, runs), np.int64, len(runs))
        self.ends = np.cumsum(self.lengths)
        keys = list(chain.from_iterable(runs))
        self.tags: NDArray[np.int64] | None = None  # of each key; -1 if any will do
        if TAG_MARK in "".join(keys):
            divided = [key.partition(TAG_MARK) for key in keys]
            keys = [key for key, _, _ in divided]
            self.tags = np.array([CODES[tag] if tag else -1 for _, _, tag in divided], np.int64)
        self.flat = Strings.of(keys)

    @property
    def filtered(self) -> list[int]:
        """The targets whose occurrences are not all postings of a key."""
        several = self.lengths > 1
        if self.tags is not None:
            several |= np.maximum.reduceat(self.tags, self.ends - self.lengths) >= 0
        return [int(number) for number in np.flatnonzero(several)]


def find_occurrences(shard: Shard, targets: Sequence[Target] | TargetKeys) -> Occurrences:
    """Occurrences of the targets in a shard; those of a multi-word target are found from its rarest word."""
    keys = targets if isinstance(targets, TargetKeys) else TargetKeys(targets)
    flat = shard.keys.find(keys.flat)
    filtered = keys.filtered
    single = flat[keys.ends - keys.lengths]
    single[filtered] = -1
    positions, lows, highs = shard.positions_of(single)
    is_extra = positions is not shard.postings
    extra = positions if is_extra else read_only(NO_POSITIONS)
    found = Occurrences(lows, highs, keys.lengths, np.full(single.size, is_extra), extra)
    if not filtered:
        return found
    runs = {}
    for n in filtered:
        own = slice(int(keys.ends[n] - keys.lengths[n]), int(keys.ends[n]))
        runs[n] = run_starts(shard, flat[own], None if keys.tags is None else keys.tags[own])
    return found.move(runs)


def run_starts(shard: Shard, keys: I64, tags: I64 | None = None) -> U32:
    """Positions where the keys follow one another within a sentence, with these parts of speech (-1: any)."""
    if (keys < 0).any():
        return NO_POSITIONS
    frequency = shard.posting_bounds[keys + 1] - shard.posting_bounds[keys]
    anchor = int(np.argmin(frequency))
    starts = shard.key_positions(int(keys[anchor])).astype(np.int64) - anchor
    starts = starts[(starts >= 0) & (starts + keys.size <= shard.tokens.size)]
    for place, tag in enumerate(() if tags is None else tags.tolist()):
        if tag >= 0:
            starts = starts[shard.tags[starts + place] == tag]
    for place, key in enumerate(keys.tolist() if keys.size > 1 else ()):
        tokens = shard.tokens[starts + place]
        follows = shard.key_of_type[tokens & TYPE_MASK] == key
        if place:
            follows &= tokens & SENTENCE_START == 0
        starts = starts[follows]
    return starts.astype(np.uint32)
