"""Where sentences end, by sentencex, in linear time and without ever failing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bagpack.arrays import I64
from bagpack.corpus.text.languages import never_final

# sentencex slows down with the length of its argument (85 MB/s at 1 kB, 12 MB/s at 256 kB), so a long
# paragraph is shown to it through a window of this many characters.
_WINDOW = 4096

# sentencex 1.0 panics on a wide space next to an initial, because it takes every space to be one byte long.
_WIDE_SPACE = re.compile(r"[^\S\x00-\x7f]")

_INITIAL_LAST = re.compile(r"[-.]\w\.\s*$")
_PLAIN_END = re.compile(r"[.!?。！？।][\"'”’)\]]*\s+|\n\s*\n")


def split_sentences(text: str, lang: str) -> list[str]:
    """The sentences of a paragraph, each with the white space after it.

    One may consist of white space alone (an empty line). For a language that it does not know, sentencex takes a
    related one, in the end English.

    >>> split_sentences("Dr. Smith left. Où? Là.", "en")
    ['Dr. Smith left. ', 'Où? ', 'Là.']
    """
    bounds = itertools.accumulate(_character_lengths(_WIDE_SPACE.sub(" ", text), lang), initial=0)
    return [text[begin:end] for begin, end in itertools.pairwise(bounds)]


class Block(NamedTuple):
    """Paragraphs as one piece of UTF-8, for a tokenizer that is called once."""

    data: bytes
    sentence_ends: I64
    paragraph_ends: I64


def join_paragraphs(paragraphs: Sequence[str], lang: str) -> Block:
    """Join paragraphs, a line feed after each, and find where their sentences and they themselves end.

    The last sentence of a paragraph takes the line feed; an empty paragraph has no sentence.

    >>> block = join_paragraphs(["One. Two.", "", "Three."], "en")
    >>> block.sentence_ends, block.paragraph_ends
    (array([ 5, 10, 18]), array([10, 11, 18]))
    """
    lengths: list[int] = []
    counts: list[int] = []
    for paragraph in paragraphs:
        if paragraph.isascii():
            of_sentences = _character_lengths(paragraph, lang) or [0]
        else:
            of_sentences = [len(own.encode()) for own in split_sentences(paragraph, lang)]
        of_sentences[-1] += 1
        lengths += of_sentences
        counts.append(len(of_sentences))
    data = "".join([paragraph + "\n" for paragraph in paragraphs]).encode()
    ends = np.cumsum(np.array(lengths, dtype=np.int64))
    last = np.cumsum(np.array(counts, dtype=np.int64)) - 1
    written = np.fromiter(map(bool, paragraphs), dtype=np.bool_, count=len(paragraphs))
    return Block(data, np.delete(ends, last[~written]), ends[last])


def _character_lengths(text: str, lang: str) -> list[int]:
    if len(text) <= _WINDOW:
        return [len(part) for part in _segment(text, lang)]
    lengths: list[int] = []
    start = sentence = 0
    while start < len(text):
        parts = _segment(text[start : start + _WINDOW], lang)
        if start + _WINDOW < len(text):
            # The last sentence may continue beyond the window: it opens the next one, or, when it fills
            # this one, is carried on from a space, without an end.
            last = parts.pop()
            if not parts:
                start += (last.rfind(" ") + 1) or len(last)
                continue
        for part in parts:
            start += len(part)
            lengths.append(start - sentence)
            sentence = start
    return lengths


def _segment(piece: str, lang: str) -> list[str]:
    import sentencex

    try:
        parts: list[str] = sentencex.segment(lang, piece)
    except BaseException as error:
        # A panic in the extension is no Exception; an interrupt must still get through.
        if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | MemoryError):
            raise
        parts = []
    if sum(map(len, parts)) != len(piece):
        cuts = [0, *(match.end() for match in _PLAIN_END.finditer(piece)), len(piece)]
        parts = [piece[a:b] for a, b in itertools.pairwise(cuts)]
    return _joined([part for part in parts if part], lang)


def _joined(parts: list[str], lang: str) -> list[str]:
    """Sentences without the ends that abbreviations of the language only seem to be (M. Dupont)."""
    never = never_final(lang)
    if never is None:
        return parts
    joined: list[str] = []
    for part in parts:
        last = joined[-1] if joined else ""
        # Neither within av. J.-C. nor behind it, if the sentence continues; other text may be all in lower case.
        inside = last.endswith(".") if part[0] == "-" else part[0].islower() and _INITIAL_LAST.search(last)
        if inside or never.search(last):
            joined[-1] += part
        else:
            joined.append(part)
    return joined
