"""From the distinct raw strings of a shard to its types: form as written, key as counted.

A key is what statistics are about: the lemma (or form), composed (NFC) and case-folded by default. Work is
done once per distinct string. Plain ASCII entries go through a kernel; the few others (accents, entities) through
Python.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.options import TextOptions
from bagpack.corpus.store.shard import bytes_of_keys
from bagpack.corpus.store.strings import Strings
from bagpack.corpus.text.casefold import fold_case, folding
from bagpack.corpus.text.decoding import unescape
from bagpack.kernels import kernel

UNKNOWN_LEMMAS = frozenset({"<unknown>"})
CONTROLS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")


@dataclass
class NormalisedTypes:
    """Form and key per raw string; `dropped` marks raw strings that are no tokens."""

    forms: Strings
    keys: Strings
    dropped: NDArray[np.bool_]


@kernel
def _scan(blob, offsets, slow, plain, divider, letters):  # type: ignore[no-untyped-def]
    """Per entry: is it without `slow` bytes or a lemma that starts with `<`; where is its TAB; has it alnum."""
    for i in range(offsets.size - 1):
        plain[i] = True
        letters[i] = False
        divider[i] = offsets[i + 1]
        for k in range(offsets[i], offsets[i + 1]):
            c = blob[k]
            if c == 9 and divider[i] == offsets[i + 1]:
                divider[i] = k
            if slow[c] or (c == 60 and divider[i] == k - 1):
                plain[i] = False
            if divider[i] == offsets[i + 1] and (48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122):
                letters[i] = True


def clean_word(word: str) -> str:
    """A word whose white space is plain and single, without control characters; of nothing else, a replacement.

    >>> clean_word("New\\N{NO-BREAK SPACE}York\\0"), clean_word("\\0")
    ('New York', '\N{REPLACEMENT CHARACTER}')
    """
    if word.isascii() and word.isprintable():
        return word
    return CONTROLS.sub(" ", word).strip() or "\N{REPLACEMENT CHARACTER}"


def is_punctuation(form: str) -> bool:
    """No letter, digit or mark in it."""
    return not any(unicodedata.category(c)[0] in "LNM" for c in form)


def normalise_columns(raw: Strings, options: TextOptions, entities: bool) -> NormalisedTypes:
    """Raw strings FORM TAB LEMMA."""
    count = len(raw)
    plain = np.empty(count, np.bool_)
    letters = np.empty(count, np.bool_)
    divider = np.empty(count, np.int64)
    small, slow = bytes_of_keys(options)
    slow[[*range(9), *range(10, 32), 127, ord("&")]] = True
    _scan(raw.blob, raw.offsets, slow, plain, divider, letters)
    dropped = ~letters if options.punctuation == "drop" else np.zeros(count, np.bool_)
    forms: list[str] = []
    keys: list[str] = []
    folded = folding(options)
    for index in np.flatnonzero(~plain).tolist():
        text = raw.bytes_at(index).decode()
        form, _, lemma = text.partition("\t")
        if entities and "&" in text:
            form, lemma = unescape(form), unescape(lemma)
        form, lemma = clean_word(form), clean_word(lemma) if lemma else ""
        lemma = form if lemma in UNKNOWN_LEMMAS else lemma
        forms.append(form)
        keys.append(folded(form if options.level == "form" else lemma or form))
        if options.punctuation == "drop":
            dropped[index] = is_punctuation(form)
    starts, ends = raw.offsets[:-1], raw.offsets[1:]
    by_lemma = (divider < ends) & (options.level == "lemma")
    key_starts, key_ends = np.where(by_lemma, divider + 1, starts), np.where(by_lemma, ends, divider)
    return NormalisedTypes(
        Strings.of_spans(raw.blob, starts, divider).replaced(~plain, Strings.of(forms)),
        Strings.of_spans(small[raw.blob], key_starts, key_ends).replaced(~plain, Strings.of(keys)),
        dropped,
    )


def normalise_forms(
    raw: Strings, forms: list[str], lemmas: list[str], options: TextOptions
) -> NormalisedTypes:
    """Raw strings are forms in UTF-8; the lemmas (or the forms themselves) become keys."""
    folded = folding(options)
    if folded is fold_case:  # plain forms are not worth a call each
        keys = [text.lower() if text.isascii() else fold_case(text) for text in lemmas]
    else:
        keys = list(map(folded, lemmas))
    dropped = np.zeros(len(forms), np.bool_)
    if options.punctuation == "drop":
        dropped = np.fromiter((is_punctuation(form) for form in forms), np.bool_, len(forms))
    return NormalisedTypes(raw, Strings.of(keys), dropped)
