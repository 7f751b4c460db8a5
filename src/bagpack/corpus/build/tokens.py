"""From paragraphs to tokens: sentence boundaries, tokens and, for annotators that need context, lemmas."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np

from bagpack.arrays import I32, I64, U8, U32
from bagpack.corpus.format import GLUED, SENTENCE_START
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Batch, DocumentStart
from bagpack.corpus.readers.files import place_at
from bagpack.corpus.text.casefold import clean_word
from bagpack.corpus.text.lemmas import Annotator, get_annotator
from bagpack.corpus.text.sentences import join_paragraphs
from bagpack.corpus.text.tokenizer import NO_SPACE_BEFORE, OPENS_SENTENCE, Tokens, tokenize
from bagpack.errors import InputError
from bagpack.kernels import read_only

TEXT_BATCH = 1 << 20  # characters that are tokenised together
MOST_TEXT = 8 * TEXT_BATCH  # characters of a piece: text without an end of a sentence is cut anywhere
_SENTENCE_END = re.compile(r"[.!?][\"')\]»”’]*\s+")


def token_batches(batches: Iterable[Batch], options: TextOptions, step: int = TEXT_BATCH) -> Iterator[Batch]:
    """Batches of tokens from batches of any kind, in their order.

    Small batches of text are joined, up to `step` bytes of input. The bytes that a batch of text was made from count as
    consumed with the last of its tokens.
    """
    waiting = _Waiting(options)
    for batch in batches:
        if batch.flags.size:
            yield from waiting.tokens()
            yield batch
            continue
        waiting.last = batch
        documents = deque(batch.documents)
        for index, paragraph in enumerate(batch.paragraphs):
            while documents and documents[0].position <= index:
                waiting.documents.append(documents.popleft()._replace(position=len(waiting.texts)))
            for piece in _pieces(paragraph):
                waiting.texts.append(piece)
                waiting.origins.append((batch, index))
                waiting.size += len(piece)
                if waiting.size >= TEXT_BATCH:
                    yield from waiting.tokens()
        waiting.documents += [own._replace(position=len(waiting.texts)) for own in documents]
        waiting.consumed += batch.consumed
        if waiting.consumed >= step:
            yield from waiting.tokens()
    yield from waiting.tokens()


def _pieces(paragraph: str) -> Iterator[str]:
    """A paragraph, one of many megabytes in pieces of whole sentences: it would take fifty times its size in memory."""
    while len(paragraph) > 2 * TEXT_BATCH:
        found = _SENTENCE_END.search(paragraph, TEXT_BATCH, MOST_TEXT)
        end = found.end() if found else MOST_TEXT
        yield paragraph[:end]
        paragraph = paragraph[end:]
    yield paragraph


class _Waiting:
    """Text that waits until there is enough of it: tokenising each paragraph by itself would cost more."""

    def __init__(self, options: TextOptions) -> None:
        self.options = options
        self.last: Batch | None = None
        # For the tokenizer, and reused: touching fresh pages takes as long as tokenising.
        self._space = Tokens.empty(0)
        self._clear()

    def _clear(self) -> None:
        self.texts: list[str] = []
        self.origins: list[tuple[Batch, int]] = []
        self.documents: list[DocumentStart] = []
        self.size = 0
        self.consumed = 0

    def tokens(self) -> Iterator[Batch]:
        """All that waits, as tokens."""
        if self.texts:
            annotator = get_annotator(self.options.annotator, self.options.lang)
            batch, firsts = self._annotated(annotator) if annotator.words else self._tokenised()
        elif self.last is not None and (self.documents or self.consumed):
            batch, firsts = Batch(self.last.source, closed=self.last.closed), np.empty(0, np.int64)
        else:
            return
        bounds = [*firsts.tolist(), batch.flags.size]
        batch.documents = [own._replace(position=bounds[own.position]) for own in self.documents]
        batch.consumed = self.consumed
        self._clear()
        yield batch

    def _tokenised(self) -> tuple[Batch, I64]:
        """Tokens of raw text, and which is the first of each paragraph."""
        block = join_paragraphs(self.texts, self.options.lang)
        data = read_only(np.frombuffer(block.data, np.uint8))
        if self._space.starts.size < data.size:
            self._space = Tokens.empty(2 * data.size)
        ends = read_only(block.sentence_ends)
        starts, stops, flags = tokenize(data, ends, self.options.lang, self._space)
        opens = (flags & OPENS_SENTENCE) != 0
        bits = np.where(opens, SENTENCE_START, np.uint32(0))
        bits[((flags & NO_SPACE_BEFORE) != 0) & ~opens] = GLUED
        firsts = np.searchsorted(starts, np.concatenate([[0], block.paragraph_ends[:-1]]))
        return self._batch(data, np.array([starts, stops], np.int32), bits, firsts), firsts

    def _annotated(self, annotator: Annotator) -> tuple[Batch, I64]:
        """The same by an annotator: a form and its lemma follow each other in the data."""
        pieces: list[bytes] = []
        bits: list[int] = []
        firsts: list[int] = []
        for text in self.texts:
            firsts.append(len(bits))
            for sentence in annotator.annotate(text):
                for index, (form, lemma, glued) in enumerate(sentence):
                    pieces += clean_word(form).encode(), clean_word(lemma or form).encode()
                    bits.append(int(SENTENCE_START) if index == 0 else int(GLUED) * glued)
        bounds = np.cumsum([0, *map(len, pieces)], dtype=np.int32)
        spans = np.array([bounds[:-1:2], bounds[1::2], bounds[1::2], bounds[2::2]])
        data = np.frombuffer(b"".join(pieces), np.uint8)
        starts = np.array(firsts, np.int64)
        return self._batch(data, spans, np.array(bits, np.uint32), starts), starts

    def _batch(
        self, data: U8, spans: I32, flags: U32, firsts: I64
    ) -> Batch:  # fmt: skip
        """A batch of these tokens; `firsts` are the first of each paragraph."""
        bounds = np.append(np.flatnonzero(flags & SENTENCE_START), flags.size)
        longest = int(np.diff(bounds).max(initial=0))
        if longest > self.options.max_sentence:
            begin = bounds[int(np.diff(bounds).argmax())]
            batch, paragraph = self.origins[int(np.searchsorted(firsts, begin, "right")) - 1]
            place = batch.where or place_at(batch.source, batch.offset, lines=batch.lines[paragraph])
            raise InputError(
                f"{place} has a sentence of {longest:,} tokens, more than {self.options.max_sentence:,}; break the "
                f"text into sentences and paragraphs, or raise --max-sentence"
            )
        return Batch(self.origins[0][0].source, data=data, spans=spans, flags=flags)
