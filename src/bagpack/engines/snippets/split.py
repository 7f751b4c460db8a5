"""Text from a foreign index: cut into sentences and tokens as `bagpack index` would, keeping those that matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from bagpack.corpus.text.casefold import fold_case
from bagpack.corpus.text.sentences import join_paragraphs
from bagpack.corpus.text.tokenizer import NO_SPACE_BEFORE, OPENS_SENTENCE, tokenize
from bagpack.engines.base import Snippet
from bagpack.engines.queries import Query
from bagpack.engines.snippets.assemble import occurrences
from bagpack.engines.words import mark, unmark


def marked_sentences(text: str, lang: str) -> Iterator[str]:
    """The sentences of a text, marked.

    >>> [sentence.replace("\\u2060", "|") for sentence in marked_sentences("A lion. It roars!", "en")]
    ['A lion|.', 'It roars|!']
    """
    paragraphs = [line for line in text.splitlines() if line.strip()]
    if not paragraphs:
        return
    block = join_paragraphs(paragraphs, lang)
    tokens = tokenize(block.data, block.sentence_ends, lang)
    forms = [
        block.data[a:b].decode() for a, b in zip(tokens.starts.tolist(), tokens.stops.tolist(), strict=True)
    ]
    glued = ((tokens.flags & NO_SPACE_BEFORE) != 0).tolist()
    opens = np.flatnonzero(tokens.flags & OPENS_SENTENCE).tolist()
    for start, end in zip(opens, [*opens[1:], len(forms)], strict=True):
        yield mark(zip(forms[start:end], [False, *glued[start + 1 : end]], strict=True))


def split_snippets(query: Query, snippets: Iterable[Snippet], lang: str) -> list[Snippet]:
    """Those sentences of the snippets in which the query's words occur."""
    wanted = [query.forms1, query.forms2] if query.kind == "pair" else [query.forms1]
    found = []
    for snippet in snippets:
        for marked in marked_sentences(snippet.text, lang):
            words = [fold_case(form) for form in unmark(marked)[0]]
            if all(occurrences(words, forms) for forms in wanted):
                found.append(Snippet(snippet.document, marked))
    return found
