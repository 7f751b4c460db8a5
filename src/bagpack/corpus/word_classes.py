"""Parts of speech of words as types: the class that most of a word's tokens have, or that its form suggests.

Tags of the corpus decide where it has them. Elsewhere HanTa's models of English, German and Dutch word forms do. Where
neither is available, every word is of class `any`, which fits everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.corpus import Corpus
from bagpack.corpus.text.tags import UNIVERSAL
from bagpack.corpus.words import DECIDING, tag_counts
from bagpack.errors import UsageError, did_you_mean
from bagpack.parallel import delayed, run

ANY = "any"
CLASSES = (ANY, "noun", "name", "verb", "adjective", "other")
AT_ONCE = 5_000  # words of a task; HanTa takes half a millisecond for a word that it does not know
_NUMBER = {name: k for k, name in enumerate(CLASSES)}
_OF_TAG = {"NOUN": "noun", "PROPN": "name", "VERB": "verb", "AUX": "verb", "ADJ": "adjective"}
# Per language: how the tags of HanTa's model begin.
_MODELS = {
    "en": ("morphmodel_en.pgz", {"NP0": "name", "NN": "noun", "VV": "verb", "AJ": "adjective"}),
    "de": ("morphmodel_ger.pgz", {"NE": "name", "NN": "noun", "VV": "verb", "ADJ": "adjective"}),
    "nl": (
        "morphmodel_dutch.pgz",
        {"SPEC(deeleigen": "name", "N(eigen": "name", "N(": "noun", "WW": "verb", "ADJ": "adjective"},
    ),
}


def word_classes(corpus: Corpus, keys: Sequence[str]) -> NDArray[np.uint8]:
    """The class of each word of a corpus, as its place in `CLASSES`."""
    if corpus.tags:
        counts = tag_counts(corpus, corpus.lexicon.keys.find(keys), DECIDING)
        of_tag = np.array([_NUMBER[_OF_TAG.get(tag, "other")] for tag in UNIVERSAL], np.uint8)
        summed = np.stack([counts[:, of_tag == k].sum(axis=1) for k in range(len(CLASSES))], axis=1)
        return np.where(summed.any(axis=1), summed.argmax(axis=1), _NUMBER[ANY]).astype(np.uint8)
    lang = corpus.options.lang
    if lang not in _MODELS:
        return np.full(len(keys), _NUMBER[ANY], np.uint8)
    parts = [keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE)]
    names = [name for part in run([delayed(_classes_of)(part, lang) for part in parts]) for name in part]
    return np.array([_NUMBER[name] for name in names], np.uint8)


def class_numbers(names: str, option: str) -> frozenset[int]:
    """The classes of an option such as `noun,name`; none for `any`."""
    given = [name.strip().lower() for name in names.split(",") if name.strip()]
    for name in given:
        if name not in CLASSES:
            shown = ", ".join(CLASSES)
            raise UsageError(
                f"{option} {name} is not a part of speech; {did_you_mean(name, CLASSES)}choose from {shown}"
            )
    return frozenset() if ANY in given else frozenset(_NUMBER[name] for name in given)


def class_names(numbers: Iterable[int]) -> str:
    """Classes in words, for notes: `noun or verb`."""
    return " or ".join(CLASSES[number] for number in sorted(numbers))


def _classes_of(keys: Sequence[str], lang: str) -> list[str]:
    return [_class_of(key, lang) for key in keys]


@lru_cache(maxsize=2)
def _tagger(lang: str) -> Any:
    from HanTa import HanoverTagger

    return HanoverTagger.HanoverTagger(_MODELS[lang][0])


@lru_cache(maxsize=1 << 17)
def _class_of(word: str, lang: str) -> str:
    """The class with the highest probability, all tags of a class together."""
    begins = _MODELS[lang][1]
    total: dict[str, float] = {}
    # German nouns have a capital, and keys are case-folded.
    written = {word, word.capitalize()} if lang == "de" else {word}
    for form in written:
        for tag, log in _tagger(lang).tag_word(form):
            name = next((name for start, name in begins.items() if str(tag).startswith(start)), "other")
            total[name] = np.logaddexp(total.get(name, -np.inf), log)
    return max(total, key=lambda name: (total[name], name)) if total else "other"
