"""From answers to a snippet corpus: which observation every snippet gives to which word or pair.

Three ordinary stores, so that everything that reads a store reads snippets with the same code:

- `sentences`: every distinct sentence once. Its lexicon and its basis are those of the snippets.
- `words`: one sentence per single context. The observed token, and it alone, has its target's own key.
- `pairs`: one sentence per pair context; the two observed tokens have their targets' keys.

A target's postings in `words` are then the observations that its own query gave, and a pair's co-occurrences in `pairs`
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

from bagpack.corpus.options import TextOptions
from bagpack.corpus.text.casefold import compose, fold_case
from bagpack.corpus.text.decoding import MAX_UNESCAPES
from bagpack.corpus.text.lemmas import AnnotatedToken, get_annotator
from bagpack.engines.base import Snippet
from bagpack.engines.queries import MAX_GAP, Form, QueryPlan
from bagpack.engines.words import KEY_MARK, plain, unmark
from bagpack.files import disk_errors

NOTHING = ("", "<s>\n\N{EMPTY SET}\t\N{EMPTY SET}\n")  # a store has at least one sentence

I64 = NDArray[np.int64]
Line = tuple[str, str]  # a document, and a sentence of it as vertical text


class Place(NamedTuple):
    """An occurrence: where it starts, and how many tokens it takes."""

    start: int
    size: int


class SentenceSource(Protocol):
    """Where sentences are, by number: the answer cache."""

    def sentences(self, numbers: Iterable[int]) -> Iterator[Snippet]:
        """The sentences of these numbers, in this order."""


def occurrences(words: Sequence[str], forms: Iterable[Form]) -> list[Place]:
    """Positions of the forms in a sentence's case-folded words; the longest form at a position counts."""
    found: dict[int, int] = {}
    for form in forms:
        size = len(form)
        for start, word in enumerate(words):
            if word == form[0] and (size == 1 or tuple(words[start : start + size]) == form):
                found[start] = max(size, found.get(start, 0))
    return [Place(start, size) for start, size in sorted(found.items())]


def co_occurrences(
    ones: Sequence[Place], twos: Sequence[Place], same: bool
) -> Iterator[tuple[str, int, Place, Place]]:
    """Consecutive targets, one of each kind, at most `MAX_GAP` tokens between: (order, gap, first, second).

    The rule of docs/method.md: neither word occurs between the two. A place that is both words (their forms
    overlap) serves as either; equal words (`same`) are observed once, in the order `+`.
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
        if not 0 <= gap <= MAX_GAP:
            continue
        for order, left, right in (("+", "1", "2"), ("-", "2", "1")):
            if left in kinds[first] and right in kinds[second] and not (same and order == "-"):
                yield order, gap, Place(first, sizes[first]), Place(second, sizes[second])


class Sentence(NamedTuple):
    """A snippet's sentence: the forms as written and case-folded, what is glued, and each token's lines."""

    forms: list[str]
    folded: list[str]
    glued: list[bool]
    lines: list[str]

    def observed(self, places: Iterable[tuple[Place, str]] = ()) -> str:
        """As vertical text, the observed tokens under their targets' keys, a run of tokens made one."""
        found = ["<s>\n"]
        at = 0
        for place, key in sorted(places):
            found += self.lines[at : place.start]
            end = place.start + place.size
            run = zip(self.forms[place.start : end], self.glued[place.start : end], strict=True)
            form = "".join(
                (" " if index and not glued else "") + form for index, (form, glued) in enumerate(run)
            )
            found.append(token_lines(form, key, self.glued[place.start]))
            at = end
        return "".join([*found, *self.lines[at:]])


def token_lines(form: str, key: str, glued: bool) -> str:
    """A token as vertical text."""
    return f"{'<g/>' + chr(10) if glued else ''}{escaped(form)}\t{escaped(key)}\n"


def escaped(text: str) -> str:
    """What the reader of vertical text, which resolves entities several times over, gives back as it was."""
    if "&" not in text and "<" not in text and '"' not in text:
        return text
    deep = "&" + "amp;" * (MAX_UNESCAPES - 1)
    return text.replace("&", f"{deep}amp;").replace("<", f"{deep}lt;").replace('"', f"{deep}quot;")


class Tokens:
    """Turns a snippet into sentences, and forms into keys, as the corpus's annotator would."""

    def __init__(self, options: TextOptions) -> None:
        self.options = options
        self._annotator = get_annotator(options.annotator, options.lang)
        self._known: dict[str, tuple[str, str, str]] = {}  # form → folded, its lines, its lines when glued

    def of(self, snippet: Snippet) -> list[Sentence]:
        """The sentences of a snippet (one, unless the annotator splits it)."""
        if self._annotator.in_context:
            (sentences,) = self._annotator.annotate([plain(snippet.text)])
            return list(map(self._annotated, sentences))
        forms, glued = unmark(snippet.text)
        known = self._known
        fresh = list(set(forms).difference(known))
        if fresh:
            for form, lemma in zip(
                fresh, self._annotator.lemmatize([compose(form) for form in fresh]), strict=True
            ):
                key = self._key(form, lemma)
                known[form] = fold_case(form), token_lines(form, key, False), token_lines(form, key, True)
        entries = [known[form] for form in forms]
        lines = [entry[1 + stuck] for entry, stuck in zip(entries, glued, strict=True)]
        return [Sentence(forms, [entry[0] for entry in entries], glued, lines)]

    def _annotated(self, tokens: Sequence[AnnotatedToken]) -> Sentence:
        forms, glued = [token.form for token in tokens], [token.glued for token in tokens]
        keys = (self._key(token.form, token.lemma) for token in tokens)
        lines = list(map(token_lines, forms, keys, glued))
        return Sentence(forms, list(map(fold_case, forms)), glued, lines)

    def _key(self, form: str, lemma: str) -> str:
        return form if self.options.level == "form" else lemma or form


@dataclass
class Assembler:
    """Gives the sentences of the three stores, as vertical text."""

    plan: QueryPlan
    answers: Sequence[I64]  # sentence numbers per query
    source: SentenceSource
    options: TextOptions
    exact: bool  # the engine's gaps are ours

    def __post_init__(self) -> None:
        self._tokens = Tokens(self.options)
        self._key_of_forms: dict[frozenset[Form], str] = {}
        self.keys = {word: self._key(forms) for word, forms in self.plan.targets.items()}

    def _key(self, forms: tuple[Form, ...]) -> str:
        """One key per set of forms: vein and veins are the same target, as they are in a store."""
        return self._key_of_forms.setdefault(frozenset(forms), KEY_MARK + " ".join(forms[0]))

    def sentences(self) -> Iterator[Line]:
        """Each distinct sentence once, in the order in which the queries found them."""
        numbers = dict.fromkeys(int(number) for answer in self.answers for number in answer)
        seen: set[str] = set()
        for snippet in self.source.sentences(numbers):
            if snippet.text not in seen:
                seen.add(snippet.text)
                for sentence in self._tokens.of(snippet):
                    yield snippet.document, sentence.observed()
        if not seen:
            yield NOTHING

    def words(self) -> Iterator[Line]:
        """A sentence per single context."""
        done: set[str] = set()
        for word, query in self.plan.words.items():
            key = self.keys[word]
            if key in done:
                continue
            done.add(key)
            for snippet in self.source.sentences(map(int, self.answers[query])):
                for sentence in self._tokens.of(snippet):
                    for place in occurrences(sentence.folded, self.plan.targets[word]):
                        yield snippet.document, sentence.observed([(place, key)])
        yield NOTHING

    def pairs(self) -> Iterator[Line]:
        """A sentence per pair context."""
        done: set[frozenset[str]] = set()
        for (word1, word2), queries in self.plan.pairs.items():
            key1, key2 = self.keys[word1], self.keys[word2]
            if frozenset((key1, key2)) in done:
                continue
            done.add(frozenset((key1, key2)))
            allowed = self._allowed(queries)
            for number, snippet in zip(allowed, self.source.sentences(allowed), strict=True):
                for sentence in self._tokens.of(snippet):
                    ones = occurrences(sentence.folded, self.plan.targets[word1])
                    twos = ones if key1 == key2 else occurrences(sentence.folded, self.plan.targets[word2])
                    for order, gap, first, second in co_occurrences(ones, twos, key1 == key2):
                        if (order, gap) in allowed[number]:
                            names = (key1, key2) if order == "+" else (key2, key1)
                            yield snippet.document, sentence.observed([(first, names[0]), (second, names[1])])
        yield NOTHING

    def _allowed(self, queries: Sequence[int]) -> dict[int, set[tuple[str, int]]]:
        """Which (order, gap) each sentence may give: those of the queries that found it.

        An engine that counts gaps in its own way (it may skip punctuation) finds a co-occurrence with a query of
        another gap; then all co-occurrences in the sentences that the pair's queries found are used.
        """
        gaps = MAX_GAP + 1
        every = {(order, gap) for order in "+-" for gap in range(gaps)}
        allowed: dict[int, set[tuple[str, int]]] = {}
        for place, query in enumerate(queries):
            own = {("+-"[place // gaps], place % gaps)}
            for number in self.answers[query]:
                allowed.setdefault(int(number), set()).update(own if self.exact else every)
        return allowed


def write_vertical(path: Path, lines: Iterable[Line]) -> tuple[int, str]:
    """Write vertical text; returns how many sentences, and a digest of it all."""
    count = 0
    hasher = hashlib.blake2b(digest_size=16)
    last = None
    with disk_errors(path), open(path, "wb") as handle:
        for document, sentence in lines:
            if document != last:
                sentence = f'<text id="{escaped(" ".join(document.split()))}">\n{sentence}'
                last = document
            encoded = sentence.encode()
            hasher.update(encoded)
            handle.write(encoded)
            count += 1
    return count, hasher.hexdigest()
