"""Token lines (vertical text, CoNLL-U) as batches: blocks of whole sentences go through one kernel.

It takes a buffer of whole lines and writes, for each token, the spans of its form, lemma and tag (empty if there is no
tag) and its two flag bits. It returns DONE, or the code of what is wrong with the line at the state's POSITION.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from bagpack.corpus.format import GLUED, SENTENCE_START
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Batch, DocumentStart, Slice
from bagpack.corpus.readers.files import place_at
from bagpack.corpus.strings import Strings
from bagpack.errors import InputError
from bagpack.kernels import kernel, read_only

SHOWN_BYTES = 60  # of a bad line
WINDOW = 1 << 12  # bytes in which fields are found at once: their ends stay in the cache
ONE = np.uint64(1)

# Why the kernel stopped.
DONE, BAD_LINE, LONG_SENTENCE = range(3)
# state[...]: what is carried over from one buffer to the next.
POSITION, TOKENS, EVENTS, AT_START, GLUE, SENTENCE_LENGTH, MARKUP_IGNORED, SKIPPED = range(8)
# Kinds of structural tags.
TAG_UNKNOWN, TAG_BOUNDARY, TAG_DOCUMENT, TAG_GLUE = range(4)

TAB, NEWLINE, RETURN, SPACE, LESS, GREATER, SLASH, HASH = map(ord, "\t\n\r <>/#")
HYPHEN, PERIOD, UNDERSCORE = map(ord, "-._")
NEWDOC = np.frombuffer(b"# newdoc", np.uint8)
NO_SPACE_AFTER = np.frombuffer(b"SpaceAfter=No", np.uint8)
MISC = 9  # the last column of CoNLL-U


class TokenLines:
    """The kernel with its settings, and what it has to know about the lines before.

    `columns` are those of forms, lemmas and tags (-1: none); `names` describe a line in messages; `document` reads the
    first line of one. Structural `tags` of vertical text are given with their kinds; without any, lines are CoNLL-U.
    """

    def __init__(
        self, part: Slice, options: TextOptions, columns: tuple[int, int, int], names: str,
        document: Callable[[str], DocumentStart], tags: Mapping[str, int] | None = None,
    ) -> None:  # fmt: skip
        self.part, self.source, self.options, self.names = part, part.source, options, names
        self.document, self.conllu = document, tags is None
        self.state = np.zeros(8, np.int64)
        self.state[AT_START] = 1  # the first token opens a sentence
        self.lines = 0  # of the slice, so far
        known = Strings.of(tags or ())
        kinds = np.array(list((tags or {}).values()), np.int64)
        limits = (options.bad_lines == "skip", options.max_sentence)
        own = (known.blob, known.offsets, kinds, np.empty(WINDOW, np.int32))
        self.settings = (*columns, self.conllu, *limits, *own)

    def batches(self, last_boundary: Callable[[bytes], int]) -> Iterator[Batch]:
        """The slice, in blocks that end with a sentence wherever `last_boundary` finds one."""
        held = b""
        for block in self.part.blocks(self.options):
            cut = last_boundary(block.data)
            stop = cut or len(block.data)
            text = b"".join((held, memoryview(block.data)[:stop]))
            yield self.parse(text, block.consumed, block.repaired, cut > 0)
            held = block.data[stop:]
        if held:
            yield self.parse(held, 0, 0, True)

    def parse(self, text: bytes, consumed: int, repaired: int, closed: bool) -> Batch:
        """The tokens of some whole lines; `closed` says that a sentence ends with them."""
        text = text if text.endswith(b"\n") else text + b"\n"
        state = self.state
        state[[POSITION, TOKENS, EVENTS, SKIPPED, MARKUP_IGNORED]] = 0
        data = read_only(np.frombuffer(text, np.uint8))
        lines = int(np.count_nonzero(data == NEWLINE))
        spans, flags = np.empty((6, lines), np.int32), np.empty(lines, np.uint32)
        documents = np.empty((lines, 3), np.int32)
        code = read_lines(data, *self.settings, *spans, flags, documents, state)
        if code != DONE:
            raise self._bad_line(code, text)
        self.lines += lines
        if closed:
            state[AT_START], state[GLUE] = 1, 0
        count = int(state[TOKENS])
        batch = Batch(
            self.source, consumed=consumed, skipped=int(state[SKIPPED]),
            ignored=int(state[MARKUP_IGNORED]), repaired=repaired, data=data, spans=spans[:, :count],
            flags=flags[:count], tagset=self.source.tagset, entities=not self.conllu,
            closed=bool(state[AT_START]),
        )  # fmt: skip
        for position, start, end in documents[: state[EVENTS]].tolist():
            batch.documents.append(self.document(text[start:end].decode())._replace(position=position))
        return batch

    def _bad_line(self, code: int, block: bytes) -> InputError:
        start = int(self.state[POSITION])
        line = block[start:].partition(b"\n")[0]
        shown = line[:SHOWN_BYTES].decode(errors="replace").rstrip("\r")
        problem = f"is not a line of {self.names}: {shown!r}; --bad-lines skip ignores and counts such lines"
        if code == LONG_SENTENCE:
            most = self.options.max_sentence
            problem = f"is past {most:,} tokens of one sentence; mark its end, or raise --max-sentence"
        place = place_at(self.source, self.part.start, lines=self.lines + block.count(b"\n", 0, start))
        return InputError(f"{place} {problem}")


@kernel
def _same(buffer, at, other, start, length):  # type: ignore[no-untyped-def]
    """Whether `length` bytes from `at` equal those of `other` from `start`."""
    for k in range(length):  # noqa: SIM110 (numba compiles no generators)
        if buffer[at + k] != other[start + k]:
            return False
    return True


@kernel
def _tag_kind(buffer, start, end, tag_blob, tag_offsets, tag_kinds):  # type: ignore[no-untyped-def]
    """Kind of the known tag that opens this line, else TAG_UNKNOWN."""
    at = start + 1
    if at < end and buffer[at] == SLASH:
        at += 1
    stop = at
    while stop < end and buffer[stop] != SPACE and buffer[stop] != GREATER and buffer[stop] != SLASH:
        if buffer[stop] == TAB:
            return TAG_UNKNOWN
        stop += 1
    if stop == end:
        return TAG_UNKNOWN
    for tag in range(tag_kinds.size):
        first = tag_offsets[tag]
        if tag_offsets[tag + 1] - first == stop - at and _same(buffer, at, tag_blob, first, stop - at):
            return tag_kinds[tag]
    return TAG_UNKNOWN


@kernel
def _id_kind(buffer, start, end):  # type: ignore[no-untyped-def]
    """0 for the id of a word (1), 1 for that of a range or an empty node (1-2, 1.1), 2 for anything else."""
    digits, dividers = 0, 0
    for i in range(start, end):
        if 48 <= buffer[i] <= 57:
            digits += 1
        elif (buffer[i] == HYPHEN or buffer[i] == PERIOD) and digits > 0 and i + 1 < end:
            dividers += 1
        else:
            return 2
    return 2 if digits == 0 or dividers > 1 else dividers


@kernel
def _no_space_after(buffer, start, end):  # type: ignore[no-untyped-def]
    """Whether MISC holds SpaceAfter=No."""
    for i in range(start, end - NO_SPACE_AFTER.size + 1):
        if _same(buffer, i, NO_SPACE_AFTER, np.int64(0), NO_SPACE_AFTER.size):
            return True
    return False


@kernel
def read_lines(  # type: ignore[no-untyped-def]
    buffer, form_column, lemma_column, tag_column, conllu, skip_bad, max_sentence, tag_blob, tag_offsets, tag_kinds,
    marks, starts, stops, lemma_starts, lemma_stops, tag_starts, tag_stops, flags, events, state,
):  # fmt: skip
    """Token lines FORM TAB … LEMMA …; every line ends with a newline.

    In vertical text, structural tags have lines of their own. CoNLL-U has ten columns, `#` comments, and ids: ranges
    and empty nodes are no tokens. `events` gets (token position, line start, line end) of each document's first line.
    """
    stop = np.uint64(buffer.size)
    needed = max(form_column, lemma_column)
    following = state[POSITION]
    byte = np.uint64(following)  # unsigned, so that no access is checked for wrapping around
    field = following
    column = 0
    start1, end1, start2, end2, start3, end3 = 0, 0, 0, 0, 0, 0
    id_end, misc = following, following
    while byte < stop:
        # Ends of fields are found without a branch per byte, which the processor would often mispredict.
        limit = min(byte + np.uint64(marks.size), stop)
        found = np.uint64(0)
        while byte < limit:
            marks[found] = byte
            found += np.uint64(buffer[byte] <= NEWLINE)
            byte += ONE
        for mark in range(found):
            at = np.int64(marks[mark])
            ended = buffer[at] == NEWLINE
            if not ended and buffer[at] != TAB:
                continue
            end = at
            if ended and end > following and buffer[end - 1] == RETURN:
                end -= 1
            if column == form_column:
                start1, end1 = field, max(end, field)
            if column == lemma_column:
                start2, end2 = field, max(end, field)
            if column == tag_column:
                start3, end3 = field, max(end, field)
            if conllu:
                if column == 0:
                    id_end = end
                elif column == MISC:
                    misc = field
            field = at + 1
            if not ended:
                column += 1
                continue
            line, following = following, field
            columns, column = column, 0
            if columns < tag_column:
                start3, end3 = 0, 0
            if end == line:
                state[AT_START], state[GLUE] = 1, 0
                continue
            opens = False
            kind = 0
            if conllu and buffer[line] == HASH:
                opens = end - line >= NEWDOC.size and _same(buffer, line, NEWDOC, np.int64(0), NEWDOC.size)
                kind = TAG_BOUNDARY  # a comment, which closes nothing
            elif buffer[line] == LESS and not conllu:
                kind = _tag_kind(buffer, line, end, tag_blob, tag_offsets, tag_kinds)
                if kind == TAG_UNKNOWN and columns < needed and end - line > 2 and buffer[end - 1] == GREATER:
                    state[MARKUP_IGNORED] += 1
                    continue
                if kind == TAG_GLUE:
                    state[GLUE] = 1
                elif kind != TAG_UNKNOWN:
                    opens = kind == TAG_DOCUMENT and buffer[line + 1] != SLASH
                    state[AT_START], state[GLUE] = 1, 0
            if opens:
                events[state[EVENTS], 0] = state[TOKENS]
                events[state[EVENTS], 1] = line
                events[state[EVENTS], 2] = end
                state[EVENTS] += 1
            if kind != TAG_UNKNOWN:
                continue
            bad = columns < needed
            if conllu:
                kind = _id_kind(buffer, line, id_end)
                bad = columns != MISC or kind == 2
                if not bad and kind == 1:
                    continue
                if end2 - start2 == 1 and buffer[start2] == UNDERSCORE:  # "unspecified"
                    start2 = end2
            bad = bad or end1 == start1
            if bad and skip_bad:
                state[SKIPPED] += 1
                continue
            if bad or (state[SENTENCE_LENGTH] >= max_sentence and not state[AT_START]):
                state[POSITION] = line
                return BAD_LINE if bad else LONG_SENTENCE
            if start2 == end2:
                start2, end2 = start1, end1
            token = state[TOKENS]
            starts[token], stops[token] = start1, end1
            lemma_starts[token], lemma_stops[token] = start2, end2
            tag_starts[token], tag_stops[token] = start3, end3
            flags[token] = SENTENCE_START if state[AT_START] else np.uint32(0)
            flags[token] |= GLUED if state[GLUE] else np.uint32(0)
            state[SENTENCE_LENGTH] = 1 if state[AT_START] else state[SENTENCE_LENGTH] + 1
            state[AT_START] = 0
            state[GLUE] = conllu and _no_space_after(buffer, misc, end)
            state[TOKENS] = token + 1
    state[POSITION] = following
    return DONE
