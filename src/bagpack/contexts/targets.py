"""From the words that a user names to their targets: keys of the corpus, or runs of keys.

A form can occur under several keys. The lexicon has them for forms that are not keys themselves; but where *saws* are
a saw, *saw* is a key, and the form *saw* is mostly *see* all the same. The segments have this for all forms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bagpack.arrays import I64, Csr
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.segment import sum_keys
from bagpack.corpus.text.casefold import folding
from bagpack.corpus.text.tags import split_tag
from bagpack.corpus.text.tokenizer import is_ideographic, split_word
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.basis import Basis
    from bagpack.contexts.concordance import Concordance
    from bagpack.contexts.windows import CountSettings, Windows

TAG_MARK = "\ufdd1"  # divides a key from the part of speech that its tokens must have
HIDDEN_MARK = "\ufdd0"  # a noncharacter with which a source may open keys of its own making; never shown
Piece = tuple[str, str]  # a word, and the part of speech that was written behind it, or nothing


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
        return self.keys if self.is_key else tuple(key.partition(TAG_MARK)[0] for key in self.keys)

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
    key_of = _keys_of(corpus, words)
    runs = {word: word.replace("_", " ").split() for word, key in key_of.items() if key is None}
    target_of = dict(zip(runs, _resolve_runs(corpus, list(runs.values())), strict=True))
    target_of |= {word: Target((key,)) for word, key in key_of.items() if key is not None}
    return [target_of[word] for word in words]


def _divide(piece: str, corpus: Corpus) -> Piece:
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
    return dict(zip(distinct, corpus.keys_of(distinct), strict=True))


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
    from bagpack.contexts.occurrences import find_occurrences

    for segment in corpus.segments:
        if not left:
            break
        counts = find_occurrences(segment, left).counts
        found |= {target for target, count in zip(left, counts, strict=True) if count}
        left = [target for target, count in zip(left, counts, strict=True) if not count]
    return found


# Forms --------------------------------------------------------------------------------------------------------


def usual_keys(corpus: Corpus, forms: Sequence[str]) -> dict[str, str]:
    """The most frequent key of each folded form that the corpus holds; of equal ones the first in code-point order."""
    fold = folding(corpus.options)
    counts = sum_keys(segment.other_keys(forms) for segment in corpus.segments)
    for segment in corpus.segments:  # and forms that are their own key
        form_of_key = dict(zip(segment.keys.find(forms).tolist(), forms, strict=True))
        for number in np.flatnonzero(np.isin(segment.key_of_type, list(form_of_key))).tolist():
            form, count = form_of_key[int(segment.key_of_type[number])], int(segment.type_counts[number])
            if count and fold(segment.forms[number]) == form:
                counts.setdefault(form, Counter())[form] += count
    return {form: min(keys, key=lambda key: (-keys[key], key)) for form, keys in counts.items()}


# Where contexts come from ------------------------------------------------------------------------------------


class ContextSource(Protocol):
    """Where contexts come from: a `Corpus`, or a `bagpack.engines.snippets.SnippetCorpus`."""

    path: Path

    @property
    def name(self) -> str: ...  # by which it can be opened
    @property
    def content_hash(self) -> str: ...  # changes when the counts would
    @property
    def for_words(self) -> Corpus: ...  # in which single words are counted
    @property
    def for_pairs(self) -> Corpus: ...
    @property
    def for_basis(self) -> Corpus: ...
    def resolve(self, words: Sequence[str]) -> list[Target | None]: ...
    def pick_basis(self, b: int) -> Basis: ...
    def count_words(
        self, targets: Sequence[Target], basis: Basis, settings: CountSettings
    ) -> tuple[Csr, I64]: ...
    def count_pairs(
        self, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings
    ) -> tuple[Csr, I64]: ...
    def contexts(
        self, w1: str, w2: str | None = None, *, limit: int | None = 5000, windows: Windows | None = None
    ) -> Concordance: ...
