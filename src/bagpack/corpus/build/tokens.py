"""From paragraphs to tokens: sentence boundaries, tokens and, for annotators that need context, lemmas."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.format import GLUED, SENTENCE_START
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Batch, DocumentStart
from bagpack.corpus.readers.files import line_number
from bagpack.corpus.text.casefold import clean_word
from bagpack.corpus.text.lemmas import AnnotatedToken, TextAnnotator, get_annotator
from bagpack.corpus.text.sentences import join_paragraphs
from bagpack.corpus.text.tokenizer import NO_SPACE_BEFORE, OPENS_SENTENCE, Tokens, tokenize_into
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
                waiting.add_document(documents.popleft())
            for piece in _pieces(paragraph):
                waiting.texts.append(piece)
                waiting.origins.append((batch, index))
                waiting.size += len(piece)
                if waiting.size >= TEXT_BATCH:
                    yield from waiting.tokens()
        for document in documents:
            waiting.add_document(document)
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
        self.lang = options.lang
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

    def add_document(self, document: DocumentStart) -> None:
        """A document begins before the paragraph that comes next."""
        self.documents.append(document._replace(position=len(self.texts)))

    def tokens(self) -> Iterator[Batch]:
        """All that waits, as tokens."""
        if self.texts:
            batch, firsts = self._tokenised(self.texts)
        elif self.last is not None and (self.documents or self.consumed):
            batch, firsts = Batch(self.last.source, closed=self.last.closed), np.empty(0, np.int64)
        else:
            return
        bounds = [*firsts.tolist(), batch.flags.size]
        batch.documents = [
            document._replace(position=bounds[document.position]) for document in self.documents
        ]
        batch.consumed = self.consumed
        self._clear()
        yield batch

    def _tokenised(self, texts: list[str]) -> tuple[Batch, NDArray[np.int64]]:
        """Tokens of raw text, and which is the first of each paragraph."""
        annotator = get_annotator(self.options.annotator, self.lang)
        if annotator.in_context:
            return self._in_context(annotator, texts)
        block = join_paragraphs(texts, self.lang)
        data = read_only(np.frombuffer(block.data, np.uint8))
        if self._space.starts.size < data.size:
            self._space = Tokens.empty(2 * data.size)
        starts, stops, flags = tokenize_into(data, read_only(block.sentence_ends), self.lang, self._space)
        opens = (flags & OPENS_SENTENCE) != 0
        bits = np.where(opens, SENTENCE_START, np.uint32(0))
        bits[((flags & NO_SPACE_BEFORE) != 0) & ~opens] = GLUED
        bounds = np.append(np.flatnonzero(opens), starts.size)
        longest = int(np.diff(bounds).max(initial=0))
        paragraph_starts = np.concatenate([[0], block.paragraph_ends[:-1]])
        if longest > self.options.max_sentence:
            begin = starts[bounds[int(np.diff(bounds).argmax())]]
            raise self._too_long(longest, int(np.searchsorted(paragraph_starts, begin, "right")) - 1)
        source = self.origins[0][0].source
        batch = Batch(source, data=data, spans=np.array([starts, stops], np.int32), flags=bits)
        return batch, np.searchsorted(starts, paragraph_starts)

    def _in_context(self, annotator: TextAnnotator, texts: list[str]) -> tuple[Batch, NDArray[np.int64]]:
        sentences: list[Sequence[AnnotatedToken]] = []
        counts = [0]
        paragraphs: list[int] = []
        for index, found in enumerate(annotator.annotate(texts)):
            sentences.extend(found)
            paragraphs.extend([index] * len(found))
            counts.append(counts[-1] + sum(map(len, found)))
        return self._spans(sentences, paragraphs), np.array(counts[:-1], np.int64)

    def _spans(self, sentences: Sequence[Sequence[AnnotatedToken]], paragraphs: list[int]) -> Batch:
        """Annotated sentences as spans; a form, its lemma and its tag follow each other."""
        pieces: list[bytes] = []
        bits: list[int] = []
        tagged = False
        for paragraph, sentence in zip(paragraphs, sentences, strict=True):
            if len(sentence) > self.options.max_sentence:
                raise self._too_long(len(sentence), paragraph)
            for index, (form, lemma, glued, *tag) in enumerate(sentence):
                pieces += (
                    clean_word(form).encode(),
                    clean_word(lemma or form).encode(),
                    *(own.encode() for own in tag or ("",)),
                )
                tagged |= bool(tag and tag[0])
                bits.append(int(SENTENCE_START) if index == 0 else int(GLUED) * glued)
        bounds = np.cumsum([0, *map(len, pieces)], dtype=np.int32)
        # A row for the starts of the forms, one for their stops, and so on.
        spans = (
            np.stack([bounds[:-1].reshape(-1, 3), bounds[1:].reshape(-1, 3)], axis=2).reshape(-1, 6).T.copy()
        )
        return Batch(
            self.origins[0][0].source, data=np.frombuffer(b"".join(pieces), np.uint8), spans=spans,
            flags=np.array(bits, np.uint32), tagset="UD" if tagged else "",
        )  # fmt: skip

    def _too_long(self, length: int, index: int) -> InputError:
        batch, paragraph = self.origins[index]
        place = (
            batch.where
            or f"{batch.source.name}:{line_number(batch.source, batch.offset) + batch.lines[paragraph]:,}"
        )
        return InputError(
            f"{place} has a sentence of {length:,} tokens, more than {self.options.max_sentence:,}; break the text "
            f"into sentences and paragraphs, or raise --max-sentence"
        )
