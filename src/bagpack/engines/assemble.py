"""From answers to a snippet corpus: which observation every snippet gives to which word or pair.

Three ordinary stores, so that everything that reads a store reads snippets with the same code:

- `sentences`: every distinct sentence once. Its lexicon and its basis are those of the snippets.
- `words`: one sentence per single context. The observed token, and it alone, has its target's own key.
- `pairs`: one sentence per pair context; the two observed tokens have their targets' keys.

A target's postings in `words` are then the observations that its own query gave, and a pair's couples in `pairs`
those that the pair's twelve queries gave: never mixed, and each query giving those of its own order and gap alone.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.annotate import get_annotator
from bagpack.corpus.options import TextOptions
from bagpack.engines.base import Snippet
from bagpack.engines.queries import Form, QueryPlan
from bagpack.engines.tokens import token_line
from bagpack.engines.words import KEY_MARK, plain, unmark
from bagpack.files import disk_errors

NOTHING = ("", [("\N{EMPTY SET}", "\N{EMPTY SET}", False)])  # a store has at least one sentence

I64 = NDArray[np.int64]
Token = tuple[str, str, bool]  # form, key, glued


class Place(NamedTuple):
    """An occurrence: where it starts, and how many tokens it takes."""

    start: int
    size: int


class SentenceSource(Protocol):
    """Where sentences are, by number: the answer cache."""

    def sentences(self, numbers: Iterable[int]) -> Iterator[Snippet]:
        """The sentences of these numbers, in this order."""


def occurrences(words: Sequence[str], forms: Iterable[Form]) -> list[Place]:
    """Where any form stands in a sentence's case-folded words; at one place the longest form counts."""
    found: dict[int, int] = {}
    for form in forms:
        size = len(form)
        for start, word in enumerate(words):
            if word == form[0] and (size == 1 or tuple(words[start : start + size]) == form):
                found[start] = max(size, found.get(start, 0))
    return [Place(start, size) for start, size in sorted(found.items())]


def couples(
    ones: Sequence[Place], twos: Sequence[Place], most: int, same: bool = False
) -> Iterator[tuple[str, int, Place, Place]]:
    """Consecutive targets, one of each kind, at most `most` tokens apart: (order, gap, first, second).

    SPEC's rule: between the two stands neither word. A place that is both words (their forms overlap) serves as
    either; equal words (`same`) are observed once, in the order `+`.
    """
    kinds: dict[int, set[str]] = {}
    sizes: dict[int, int] = {}
    for kind, places in (("1", ones), ("2", twos)):
        for place in places:
            kinds.setdefault(place.start, set()).add(kind)
            sizes[place.start] = max(place.size, sizes.get(place.start, 0))
    starts = sorted(kinds)
    for first, second in itertools.pairwise(starts):
        gap = second - first - sizes[first]
        if not 0 <= gap <= most:
            continue
        for order, left, right in (("+", "1", "2"), ("-", "2", "1")):
            if left in kinds[first] and right in kinds[second] and not (same and order == "-"):
                yield order, gap, Place(first, sizes[first]), Place(second, sizes[second])


@dataclass
class Tokens:
    """Turns a snippet into sentences of tokens, and tokens into keys, as the corpus's annotator would."""

    options: TextOptions

    def __post_init__(self) -> None:
        self._annotator = get_annotator(self.options.annotator, self.options.lang)
        self._lemmas: dict[str, str] = {}

    def of(self, snippet: Snippet) -> list[list[Token]]:
        """The sentences of a snippet (one, unless the annotator has its own idea of sentences)."""
        if self._annotator.in_context:
            text = [plain(snippet.text)]
            parts = self._annotator.annotate(text)
            return [
                [(form, lemma, glued) for form, lemma, glued in sentence]
                for part in parts
                for sentence in part
            ]
        tokens = unmark(snippet.text)
        fresh = list({form for form, _ in tokens if form not in self._lemmas})
        if fresh:
            self._lemmas.update(zip(fresh, self._keys(fresh), strict=True))
        return [[(form, self._lemmas[form], glued) for form, glued in tokens]]

    def _keys(self, forms: list[str]) -> list[str]:
        if self.options.level == "form" or self._annotator.in_context:
            return forms
        return self._annotator.lemmatize(forms)


def observed(tokens: Sequence[Token], places: Sequence[tuple[Place, str]]) -> list[Token]:
    """The sentence with the observed tokens under their targets' keys, a run of tokens made one."""
    found: list[Token] = []
    at = 0
    for place, key in sorted(places):
        found.extend(tokens[at : place.start])
        run = tokens[place.start : place.start + place.size]
        form = "".join(
            (" " if index and not glued else "") + form for index, (form, _, glued) in enumerate(run)
        )
        found.append((form, key, run[0][2]))
        at = place.start + place.size
    return [*found, *tokens[at:]]


@dataclass
class Assembler:
    """Writes the lines of the three stores."""

    plan: QueryPlan
    answers: Sequence[I64]  # sentence numbers per query
    source: SentenceSource
    options: TextOptions
    exact: bool  # the engine's gaps are ours
    max_gap: int

    def __post_init__(self) -> None:
        self._tokens = Tokens(self.options)
        self._key_of_forms: dict[frozenset[Form], str] = {}
        self.keys = {word: self._key(forms) for word, forms in self.plan.targets.items()}

    def _key(self, forms: tuple[Form, ...]) -> str:
        """One key per set of forms: vein and veins are the same target, as they are in a store."""
        return self._key_of_forms.setdefault(frozenset(forms), KEY_MARK + " ".join(forms[0]))

    def sentence_lines(self) -> Iterator[str]:
        """Each distinct sentence once, in the order in which the queries found them."""
        numbers = dict.fromkeys(int(number) for answer in self.answers for number in answer)
        seen: set[str] = set()
        for snippet in self.source.sentences(numbers):
            if snippet.text not in seen:
                seen.add(snippet.text)
                for tokens in self._tokens.of(snippet):
                    yield token_line(snippet.document, tokens)
        if not seen:
            yield token_line(*NOTHING)

    def word_lines(self) -> Iterator[str]:
        """A line per single context."""
        done: set[str] = set()
        for word, query in self.plan.words.items():
            key = self.keys[word]
            if key in done:
                continue
            done.add(key)
            for snippet in self.source.sentences(map(int, self.answers[query])):
                for tokens in self._tokens.of(snippet):
                    for place in occurrences(_folded(tokens), self.plan.targets[word]):
                        yield token_line(snippet.document, observed(tokens, [(place, key)]))
        yield token_line(*NOTHING)

    def pair_lines(self) -> Iterator[str]:
        """A line per pair context."""
        done: set[frozenset[str]] = set()
        for (word1, word2), queries in self.plan.pairs.items():
            key1, key2 = self.keys[word1], self.keys[word2]
            if frozenset((key1, key2)) in done:
                continue
            done.add(frozenset((key1, key2)))
            allowed = self._allowed(queries)
            for number, snippet in zip(allowed, self.source.sentences(allowed), strict=True):
                for tokens in self._tokens.of(snippet):
                    folded = _folded(tokens)
                    ones = occurrences(folded, self.plan.targets[word1])
                    twos = ones if key1 == key2 else occurrences(folded, self.plan.targets[word2])
                    for order, gap, first, second in couples(ones, twos, self.max_gap, key1 == key2):
                        if (order, gap) in allowed[number]:
                            names = (key1, key2) if order == "+" else (key2, key1)
                            pair = [(first, names[0]), (second, names[1])]
                            yield token_line(snippet.document, observed(tokens, pair))
        yield token_line(*NOTHING)

    def _allowed(self, queries: Sequence[int]) -> dict[int, set[tuple[str, int]]]:
        """Which (order, gap) each sentence may give: those of the queries that found it.

        An engine that counts gaps in its own way (it may pass over punctuation) finds a couple with a query of
        another gap; there, every sentence that the pair's queries found may give all its couples.
        """
        gaps = self.max_gap + 1
        every = {(order, gap) for order in "+-" for gap in range(gaps)}
        allowed: dict[int, set[tuple[str, int]]] = {}
        for place, query in enumerate(queries):
            own = {("+-"[place // gaps], place % gaps)}
            for number in self.answers[query]:
                allowed.setdefault(int(number), set()).update(own if self.exact else every)
        return allowed


def _folded(tokens: Iterable[Token]) -> list[str]:
    return [form.casefold() for form, _, _ in tokens]


def write_lines(path: Path, lines: Iterable[str]) -> tuple[int, str]:
    """Write the lines; returns how many, and a digest of them all."""
    count = 0
    hasher = hashlib.blake2b(digest_size=16)
    with disk_errors(path), open(path, "wb") as handle:
        for line in lines:
            encoded = line.encode()
            hasher.update(encoded)
            handle.write(encoded)
            count += 1
    return count, hasher.hexdigest()
