"""Kernels that read tab-separated token lines (vertical and CoNLL-U) straight from bytes.

Both take a buffer of whole lines and write, for each token, the spans of its form, lemma and tag (empty if there is no
tag) and its two flag bits. They return DONE, or the code of what is wrong with the line at the state's POSITION.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.format import GLUED, SENTENCE_START
from bagpack.corpus.strings import Strings
from bagpack.kernels import allocating_kernel, kernel

# Why a kernel stopped.
DONE, FEW_COLUMNS, EMPTY_FORM, BAD_ID, LONG_SENTENCE, WRONG_COLUMNS = range(6)

# state[...]: what is carried over from one buffer to the next.
STATE_SIZE = 8
POSITION, TOKENS, EVENTS, AT_START, GLUE, SENTENCE_LENGTH, MARKUP_IGNORED, SKIPPED = range(STATE_SIZE)

ONE = np.uint64(1)
WINDOW = 1 << 12  # bytes in which fields are found at once: their ends stay in the cache

# Kinds of structural tags.
TAG_UNKNOWN, TAG_BOUNDARY, TAG_DOCUMENT, TAG_GLUE = range(4)

TAB, NEWLINE, RETURN, SPACE, LESS, GREATER, SLASH, HASH = map(ord, "\t\n\r <>/#")
HYPHEN, PERIOD, UNDERSCORE = map(ord, "-._")

NEWDOC = np.frombuffer(b"# newdoc", np.uint8)
NO_SPACE_AFTER = np.frombuffer(b"SpaceAfter=No", np.uint8)


def new_state() -> NDArray[np.int64]:
    """State before the first line: the next token opens a sentence."""
    state = np.zeros(STATE_SIZE, np.int64)
    state[AT_START] = 1
    return state


@kernel
def close_sentence(state):  # type: ignore[no-untyped-def]
    """Whatever went before, the next token opens a sentence."""
    state[AT_START] = 1
    state[GLUE] = 0


def tag_table(names: dict[str, int]) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Tag names and their kinds as arrays: concatenated bytes, offsets, kinds."""
    strings = Strings.of(names)
    return strings.blob, strings.offsets, np.array(list(names.values()), np.int64)


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
def _push_token(  # type: ignore[no-untyped-def]
    start1, end1, start2, end2, start3, end3, starts, stops, lemma_starts, lemma_stops, tag_starts, tag_stops, flags,
    state, max_sentence,
):  # fmt: skip
    """Append one token with its flags; True if its sentence is too long."""
    at = state[TOKENS]
    starts[at] = start1
    stops[at] = end1
    lemma_starts[at] = start2
    lemma_stops[at] = end2
    tag_starts[at] = start3
    tag_stops[at] = end3
    value = np.uint32(0)
    if state[AT_START]:
        value |= SENTENCE_START
        state[AT_START] = 0
        state[SENTENCE_LENGTH] = 0
    if state[GLUE]:
        value |= GLUED
        state[GLUE] = 0
    flags[at] = value
    state[TOKENS] = at + 1
    state[SENTENCE_LENGTH] += 1
    return state[SENTENCE_LENGTH] > max_sentence


@kernel
def _push_document(events, state, line, end):  # type: ignore[no-untyped-def]
    """Note that a document begins with this line."""
    events[state[EVENTS], 0] = state[TOKENS]
    events[state[EVENTS], 1] = line
    events[state[EVENTS], 2] = end
    state[EVENTS] += 1


@kernel
def read_vertical(  # type: ignore[no-untyped-def]
    buffer, form_column, lemma_column, tag_column, skip_bad, max_sentence, tag_blob, tag_offsets, tag_kinds, marks,
    starts, stops, lemma_starts, lemma_stops, tag_starts, tag_stops, flags, events, state,
):  # fmt: skip
    """Token lines FORM TAB … LEMMA … with structural tags on lines of their own; every line ends with a newline.

    `events` gets (token position, line start, line end) of each document tag.
    """
    stop = np.uint64(buffer.size)
    needed = max(form_column, lemma_column)
    following = state[POSITION]
    byte = np.uint64(following)  # unsigned, so that no access is checked for wrapping around
    field = following
    column = 0
    start1, end1, start2, end2, start3, end3 = 0, 0, 0, 0, 0, 0
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
            field = at + 1
            if not ended:
                column += 1
                continue
            line, following = following, field
            columns, column = column, 0
            if columns < tag_column:
                start3, end3 = 0, 0
            if end == line:
                state[AT_START] = 1
                continue
            if buffer[line] == LESS:
                kind = _tag_kind(buffer, line, end, tag_blob, tag_offsets, tag_kinds)
                if kind == TAG_UNKNOWN and columns < needed and end - line > 2 and buffer[end - 1] == GREATER:
                    state[MARKUP_IGNORED] += 1
                    continue
                if kind == TAG_GLUE:
                    state[GLUE] = 1
                    continue
                if kind != TAG_UNKNOWN:
                    opens = kind == TAG_DOCUMENT and buffer[line + 1] != SLASH
                    if opens:
                        _push_document(events, state, line, end)
                    state[AT_START] = 1
                    state[GLUE] = 0
                    continue
            if columns < needed or end1 == start1:
                if skip_bad:
                    state[SKIPPED] += 1
                    continue
                state[POSITION] = line
                return FEW_COLUMNS if columns < needed else EMPTY_FORM
            if start2 == end2:
                start2, end2 = start1, end1
            if _push_token(
                start1, end1, start2, end2, start3, end3, starts, stops, lemma_starts, lemma_stops, tag_starts,
                tag_stops, flags, state, max_sentence,
            ):  # fmt: skip
                state[POSITION] = line
                return LONG_SENTENCE
    state[POSITION] = following
    return DONE


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


@allocating_kernel
def read_conllu(  # type: ignore[no-untyped-def]
    buffer, tag_column, skip_bad, max_sentence, starts, stops, lemma_starts, lemma_stops, tag_starts, tag_stops, flags,
    events, state,
):  # fmt: skip
    """CoNLL-U: ten columns, `#` comments, a blank line after each sentence; ranges and empty nodes are no tokens.

    `events` gets every `# newdoc` line.
    """
    size = buffer.size
    line = state[POSITION]
    fields = np.empty(11, np.int64)
    while line < size:
        state[POSITION] = line
        column = 0
        fields[0] = line
        at = line
        while at < size and buffer[at] != NEWLINE:
            if buffer[at] == TAB:
                column += 1
                if column < 10:
                    fields[column] = at + 1
            at += 1
        following = at + 1
        end = at
        if end > line and buffer[end - 1] == RETURN:
            end -= 1
        if end == line:
            close_sentence(state)
            line = following
            continue
        if buffer[line] == HASH:
            opens = end - line >= NEWDOC.size and _same(buffer, line, NEWDOC, np.int64(0), NEWDOC.size)
            if opens:
                _push_document(events, state, line, end)
            line = following
            continue
        kind = _id_kind(buffer, line, fields[1] - 1) if column == 9 else 2
        fault = DONE
        if column != 9:
            fault = WRONG_COLUMNS
        elif kind == 2:
            fault = BAD_ID
        elif kind == 0 and fields[2] - 1 == fields[1]:
            fault = EMPTY_FORM
        if fault != DONE:
            if not skip_bad:
                return fault
            state[SKIPPED] += 1
        if fault != DONE or kind == 1:
            line = following
            continue
        start1, end1 = fields[1], fields[2] - 1
        start2, end2 = fields[2], fields[3] - 1
        if start2 == end2 or (end2 - start2 == 1 and buffer[start2] == UNDERSCORE):  # "unspecified"
            start2, end2 = start1, end1
        if _push_token(
            start1, end1, start2, end2, fields[tag_column], fields[tag_column + 1] - 1, starts, stops, lemma_starts,
            lemma_stops, tag_starts, tag_stops, flags, state, max_sentence,
        ):  # fmt: skip
            return LONG_SENTENCE
        if _no_space_after(buffer, fields[9], end):
            state[GLUE] = 1
        line = following
    state[POSITION] = line
    return DONE
