"""What differs between languages: one profile each. `docs/corpus.md` shows them as a table.

A language without a profile is tokenised by the general rules and lemmatised by simplemma, if it has a dictionary.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

PLAIN, ENGLISH, ELIDING, FRENCH = range(4)  # styles of the tokenizer


@dataclass(frozen=True)
class Language:
    """How texts of a language are cut, lemmatised and folded."""

    code: str
    name: str
    style: int = PLAIN
    annotator: str = "simplemma"
    case: str = "fold"
    abbreviations: str = ""  # keep their period
    titles: str = ""  # those that are always followed by something, so that they never end a sentence


LANGUAGES = {
    language.code: language
    for language in (
        Language(
            "en", "English", ENGLISH,
            abbreviations="mr mrs ms messrs mme dr drs prof st ste jr sr rev hon gov gen col sgt capt cpt cmdr lt maj "
            "adm brig pres sen rep supt vs etc inc ltd co corp bros dept univ assn est approx fig figs vol vols pp ed "
            "eds al cf ca viz ibid jan feb apr aug sept oct nov dec ave blvd rd mt ft",
        ),
        Language(
            "de", "German", case="keep",
            abbreviations="jan feb apr aug sept okt nov dez usw etc jh mio mrd str tel",
            titles="dr prof hr fr dipl ing st nr bzw ca vgl evtl ggf inkl bspw abs bd hrsg",
        ),
        Language(
            "fr", "French", FRENCH,
            abbreviations="etc janv févr juill sept oct nov déc tél",
            titles="m mm mme mmes mlle mlles dr mgr ste chap fig cf env",
        ),
        Language(
            "it", "Italian", ELIDING,
            abbreviations="ecc feb apr sett ott nov dic tel",
            titles="sig sigg dott prof avv ing arch rag geom fig pag pagg cfr",
        ),
        Language(
            "es", "Spanish",
            abbreviations="etc tel uu",
            titles="sr sra sres sras srta dr dra drs prof lic ing ud uds vd vds dña fig pág págs avda núm ee",
        ),
        Language("ca", "Catalan", ELIDING),
        Language("oc", "Occitan", ELIDING),
        Language("zh", "Chinese", annotator="jieba"),
        Language("ja", "Japanese", annotator="fugashi"),
    )
}  # fmt: skip


def language(code: str) -> Language:
    """The profile of a language code such as `de` or `de-AT`."""
    short = code.lower().partition("-")[0]
    return LANGUAGES.get(short) or Language(short, short)


@cache
def never_final(code: str) -> re.Pattern[str] | None:
    """Matches a sentence that ends in an abbreviation which never ends one, or in half of J.-C."""
    words = language(code).titles.split()
    if not words:
        return None
    return re.compile(rf"(?:^|[\s(\[«„\"'’])(?:{'|'.join(map(re.escape, words))})\.\s*$", re.IGNORECASE)


ENOUGH_WORDS = 30
CERTAIN = 0.15
# The most frequent words; a text of the language is full of them.
_FREQUENT = {
    "en": "the of and to in a is that was it for with as on be at by he his this are from or not have they you",
    "de": "der die das und in zu den ist nicht von mit sich des auf für im dem ein eine er sie es war auch als ich",
    "fr": "le la les de des et un une en du que qui est dans pour pas il elle ce au sur ne se plus par je vous",
    "it": "di e il la che in a un per è non sono le i con una da del si lo al gli come ma più della",
    "es": "de la que el en y a los se del las un por con no una su para es al lo como más o pero",
    "pt": "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem à",
    "nl": "de van een het en in is dat op te zijn voor niet aan er om ook als dan bij uit nog naar maar wordt",
    "ru": "и в не на я что он с как это по но они к у мы за из его от так для же вы бы до был она",
}


def other_language(text: str, code: str) -> str:
    """The language that a text seems to be in, if it is full of another one's words than the one that is named.

    >>> other_language("Der Hund ist in dem Haus und sie ist nicht auf der Straße. " * 3, "en")
    'de'
    """
    words = re.findall(r"[^\W\d_]+", text.lower())
    if len(words) < ENOUGH_WORDS:
        return ""
    counts = Counter(words)
    share = {own: sum(counts[word] for word in _FREQUENT[own].split()) / len(words) for own in _FREQUENT}
    best = max(share, key=share.__getitem__)
    return best if share[best] > max(CERTAIN, 2 * share.get(language(code).code, 0.0)) else ""
