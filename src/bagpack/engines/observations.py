"""Locating targets in the sentences that an engine gave, and writing them as vertical text under keys of their own.

The rule of docs/method.md is applied by our own code to every sentence, whatever the engine counted as a match.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from bagpack.corpus.options import TextOptions
from bagpack.corpus.text.casefold import compose, fold_case
from bagpack.corpus.text.encoding import MAX_UNESCAPES
from bagpack.corpus.text.lemmas import get_annotator
from bagpack.engines.base import Snippet
from bagpack.engines.queries import MAX_GAP, Form, Query
from bagpack.engines.sentences import marked_sentences, plain, unmark

NOTHING = "<s>\n\N{EMPTY SET}\t\N{EMPTY SET}\n"
Place = tuple[int, int]  # where an occurrence starts, and how many tokens it takes


def occurrences(words: Sequence[str], forms: Iterable[Form]) -> dict[int, int]:
    """Where the forms start in a sentence's case-folded words, and the length of the longest form there."""
    found: dict[int, int] = {}
    for form in forms:
        size = len(form)
        for start, word in enumerate(words):
            if word == form[0] and (size == 1 or tuple(words[start : start + size]) == form):
                found[start] = max(size, found.get(start, 0))
    return found


def co_occurrences(
    ones: dict[int, int], twos: dict[int, int], same: bool
) -> Iterator[tuple[str, int, Place, Place]]:
    """Consecutive targets, one of each kind, at most `MAX_GAP` tokens between: (order, gap, first, second).

    Neither word occurs between the two. A place that is both words (their forms overlap) serves as either; equal
    words (`same`) are observed once, in the order `+`.
    """
    sizes = {start: max(ones.get(start, 0), twos.get(start, 0)) for start in sorted({*ones, *twos})}
    for first, second in itertools.pairwise(sizes):
        gap = second - first - sizes[first]
        if not 0 <= gap <= MAX_GAP:
            continue
        places = (first, sizes[first]), (second, sizes[second])
        if first in ones and second in twos:
            yield "+", gap, *places
        if first in twos and second in ones and not same:
            yield "-", gap, *places


def matching_sentences(query: Query, snippets: Iterable[Snippet], lang: str) -> Iterator[Snippet]:
    """Those sentences of the texts from a foreign index in which the query's words occur."""
    wanted = [query.forms1, query.forms2] if query.kind == "pair" else [query.forms1]
    for snippet in snippets:
        for marked in marked_sentences(snippet.text, lang):
            words = [fold_case(form) for form in unmark(marked)[0]]
            if all(occurrences(words, forms) for forms in wanted):
                yield Snippet(snippet.document, marked)


class Sentence(NamedTuple):
    """A snippet's sentence: the forms as written and case-folded, what is glued, and each token as vertical text."""

    forms: list[str]
    folded: list[str]
    glued: list[bool]
    lines: list[str]

    def observed(self, places: Iterable[tuple[Place, str]] = ()) -> str:
        """As vertical text, the observed tokens under their targets' keys, a run of tokens made one."""
        lines = self.lines.copy()
        for (start, size), key in sorted(places, reverse=True):
            run = slice(start, start + size)
            spaces = ["", *("" if glued else " " for glued in self.glued[run][1:])]
            form = "".join(space + form for space, form in zip(spaces, self.forms[run], strict=True))
            lines[run] = [_line(form, key, self.glued[start])]
        return "".join(["<s>\n", *lines])


@lru_cache(1 << 16)
def _line(form: str, key: str, glued: bool) -> str:
    return f"{'<g/>' + chr(10) if glued else ''}{escaped(form)}\t{escaped(key)}\n"


def escaped(text: str) -> str:
    """What the reader of vertical text, which resolves entities several times over, gives back as it was."""
    if "&" not in text and "<" not in text and '"' not in text:
        return text
    deep = "&" + "amp;" * (MAX_UNESCAPES - 1)
    return text.replace("&", f"{deep}amp;").replace("<", f"{deep}lt;").replace('"', f"{deep}quot;")


class Annotation:
    """Turns marked text into sentences whose tokens have the keys that the corpus's annotator would give them."""

    def __init__(self, options: TextOptions) -> None:
        self._by_form = options.level == "form"
        self._annotator = get_annotator(options.annotator, options.lang)
        self._lemma: dict[str, str] = {}

    def of(self, marked: str) -> list[Sentence]:
        """One sentence, unless the annotator splits it."""
        if self._annotator.words:
            sentences = self._annotator.annotate(plain(marked))
            return [self._sentence(*zip(*sentence, strict=True)) for sentence in sentences]
        forms, glued = unmark(marked)
        if fresh := list(set(forms).difference(self._lemma)):
            found = self._annotator.lemmatize([compose(form) for form in fresh])
            self._lemma.update(zip(fresh, found, strict=True))
        return [self._sentence(forms, [self._lemma[form] for form in forms], glued)]

    def _sentence(self, forms: Sequence[str], lemmas: Sequence[str], glued: Sequence[bool]) -> Sentence:
        keys = forms if self._by_form else [lemma or form for form, lemma in zip(forms, lemmas, strict=True)]
        lines = list(map(_line, forms, keys, glued))
        return Sentence(list(forms), list(map(fold_case, forms)), list(glued), lines)


class VerticalFile:
    """Vertical text that is written sentence by sentence."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0  # of sentences that were added
        self._document = ""
        self._file = open(path, "wb")  # noqa: SIM115 (closed by close)

    def add(self, document: str, sentence: str) -> None:
        if document != self._document or not self.count:
            sentence = f'<text id="{escaped(" ".join(document.split()))}">\n{sentence}'
            self._document = document
        self._file.write(sentence.encode())
        self.count += 1

    def close(self) -> None:
        """End the text; a store has at least one sentence."""
        if not self.count:
            self._file.write(NOTHING.encode())
        self._file.close()
