"""From paragraphs to tokens: sentence boundaries, tokens and, for annotators that need context, lemmas."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Batch, DocumentStart, Sentence, TextBatch, TokenBatch
from bagpack.corpus.readers.io import line_number
from bagpack.corpus.store.format import GLUED, SENTENCE_START
from bagpack.corpus.text.lemmas import TextAnnotator, get_annotator
from bagpack.corpus.text.sentences import join_paragraphs
from bagpack.corpus.text.tokenizer import NO_SPACE_BEFORE, OPENS_SENTENCE, Tokens, tokenize_into
from bagpack.errors import InputError
from bagpack.jit import read_only

TEXT_BATCH = 1 << 20  # characters that are tokenised together


def token_batches(
    batches: Iterable[Batch], options: TextOptions, lang: str, step: int = TEXT_BATCH
) -> Iterator[TokenBatch]:
    """Batches of tokens from batches of any kind, in their order.

    Small batches of text are joined, up to `step` bytes of input. The bytes that a batch of text was made from count as
    consumed with the last of its tokens.
    """
    waiting = _Waiting(options, lang)
    for batch in batches:
        if isinstance(batch, TokenBatch):
            yield from waiting.tokens()
            yield batch
            continue
        waiting.last = batch
        documents = deque(batch.documents)
        for index, paragraph in enumerate(batch.paragraphs if isinstance(batch, TextBatch) else ()):
            while documents and documents[0].position <= index:
                waiting.add_document(documents.popleft())
            waiting.texts.append(paragraph)
            waiting.origins.append((batch, index))
            waiting.size += len(paragraph)
            if waiting.size >= TEXT_BATCH:
                yield from waiting.tokens()
        for document in documents:
            waiting.add_document(document)
        waiting.consumed += batch.consumed
        if waiting.consumed >= step:
            yield from waiting.tokens()
    yield from waiting.tokens()


class _Waiting:
    """Text that waits until there is enough of it: tokenising each paragraph by itself would cost more."""

    def __init__(self, options: TextOptions, lang: str) -> None:
        self.options = options
        self.lang = lang
        self.last: Batch | None = None
        # For the tokenizer, and reused: touching fresh pages takes as long as tokenising.
        self._space = Tokens.empty(0)
        self._clear()

    def _clear(self) -> None:
        self.texts: list[str | Sentence] = []
        self.origins: list[tuple[Batch, int]] = []
        self.documents: list[DocumentStart] = []
        self.size = 0
        self.consumed = 0

    def add_document(self, document: DocumentStart) -> None:
        """A document begins before the paragraph that comes next."""
        self.documents.append(document._replace(position=len(self.texts)))

    def tokens(self) -> Iterator[TokenBatch]:
        """All that waits, as tokens."""
        made: list[TokenBatch] = []
        first = 0
        for kind, run in groupby(self.texts, type):
            texts = list(run)
            if kind is str:
                batch, firsts = self._tokenised(cast(list[str], texts), first)
            else:
                batch, firsts = self._annotated(cast(list[Sentence], texts), first)
            for document in self.documents:
                if first <= document.position < first + len(texts):
                    batch.documents.append(document._replace(position=int(firsts[document.position - first])))
            made.append(batch)
            first += len(texts)
        last = [document for document in self.documents if document.position == first]
        if not made and self.last is not None and (last or self.consumed):
            made.append(TokenBatch(self.last.source))
        if made:
            count = made[-1].starts.size
            made[-1].documents.extend(document._replace(position=count) for document in last)
            made[-1].consumed = self.consumed
        self._clear()
        yield from made

    def _tokenised(self, texts: list[str], first: int) -> tuple[TokenBatch, NDArray[np.int64]]:
        """Tokens of raw text, and which is the first of each paragraph."""
        annotator = get_annotator(self.options.annotator, self.lang)
        if annotator.in_context:
            return self._in_context(annotator, texts, first)
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
            raise self._too_long(longest, first + int(np.searchsorted(paragraph_starts, begin, "right")) - 1)
        source = self.origins[first][0].source
        begins, ends = starts.astype(np.int32), stops.astype(np.int32)
        batch = TokenBatch(source, data=data, starts=begins, stops=ends, flags=bits)
        return batch, np.searchsorted(begins, paragraph_starts)

    def _in_context(
        self, annotator: TextAnnotator, texts: list[str], first: int
    ) -> tuple[TokenBatch, NDArray[np.int64]]:
        sentences: list[Sentence] = []
        counts = [0]
        paragraphs: list[int] = []
        for index, found in enumerate(annotator.annotate(texts)):
            sentences.extend(found)
            paragraphs.extend([first + index] * len(found))
            counts.append(counts[-1] + sum(map(len, found)))
        return self._spans(sentences, paragraphs, first), np.array(counts[:-1], np.int64)

    def _annotated(self, texts: list[Sentence], first: int) -> tuple[TokenBatch, NDArray[np.int64]]:
        batch = self._spans(texts, list(range(first, first + len(texts))), first)
        return batch, np.cumsum([0, *map(len, texts[:-1])])

    def _spans(self, sentences: Sequence[Sentence], paragraphs: list[int], first: int) -> TokenBatch:
        """Annotated sentences as spans; a form, its lemma and its tag follow each other."""
        pieces: list[bytes] = []
        bits: list[int] = []
        tagged = False
        for paragraph, sentence in zip(paragraphs, sentences, strict=True):
            if len(sentence) > self.options.max_sentence:
                raise self._too_long(len(sentence), paragraph)
            for index, (form, lemma, glued, *tag) in enumerate(sentence):
                pieces += (
                    _clean(form).encode(),
                    _clean(lemma or form).encode(),
                    *(own.encode() for own in tag or ("",)),
                )
                tagged |= bool(tag and tag[0])
                bits.append(int(SENTENCE_START) if index == 0 else int(GLUED) * glued)
        ends = np.cumsum(np.fromiter(map(len, pieces), np.int32, len(pieces)), dtype=np.int32)
        begins = np.concatenate([np.zeros(1, np.int32), ends[:-1]]) if pieces else ends
        batch = TokenBatch(
            self.origins[first][0].source, data=np.frombuffer(b"".join(pieces), np.uint8), starts=begins[::3].copy(),
            stops=ends[::3].copy(), lemma_starts=begins[1::3].copy(), lemma_stops=ends[1::3].copy(),
            flags=np.array(bits, np.uint32),
        )  # fmt: skip
        if tagged:
            batch.tag_starts, batch.tag_stops, batch.tagset = begins[2::3].copy(), ends[2::3].copy(), "UD"
        return batch

    def _too_long(self, length: int, index: int) -> InputError:
        batch, paragraph = self.origins[index]
        text = cast(TextBatch, batch)
        place = (
            text.where
            or f"{text.source.name}:{line_number(text.source, text.offset) + text.lines[paragraph]:,}"
        )
        return InputError(
            f"{place} has a sentence of {length:,} tokens, more than {self.options.max_sentence:,}; break the text "
            f"into sentences and paragraphs, or raise --max-sentence"
        )


def _clean(text: str) -> str:
    return " ".join(text.split()) or "\N{REPLACEMENT CHARACTER}"
