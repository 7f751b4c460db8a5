"""What differs between languages: one profile each. `docs/languages.md` shows them as a table.

A language without a profile is tokenised by the general rules and lemmatised by simplemma, if it has a dictionary.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

ENGLISH, FRENCH, ELIDING, PLAIN = "english", "french", "eliding", "plain"


@dataclass(frozen=True)
class Language:
    """How texts of a language are cut, lemmatised and folded."""

    code: str
    name: str
    style: str = PLAIN  # of the tokenizer
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


# The most frequent words; a text of the language is full of them.
_FREQUENT = {
    "en": "the of and to in a is that was it for with as on be at by he his this are from or not have they you",
    "de": "der die das und in zu den ist nicht von mit sich des auf für im dem ein eine er sie es war auch als ich",
    "fr": "le la les de des et un une en du que qui est dans pour pas il elle ce au sur ne se plus par je vous",
    "it": "di e il la che in a un per è non sono le i con una da del si lo al gli come ma più della",
    "es": "de la que el en y a los se del las un por con no una su para es al lo como más o pero",
}


def is_plausible(text: str, code: str) -> bool:
    """Whether a text is full of the language's most frequent words; a quick test that spares a slow one."""
    frequent = frozenset(_FREQUENT.get(language(code).code, "").split())
    words = re.findall(r"[^\W\d_]+", text[: 1 << 14].lower())
    return not words or sum(word in frequent for word in words) > 0.08 * len(words)
