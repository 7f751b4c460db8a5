"""Parts of speech: the universal tags, and how the tags of well-known tagsets map to them.

A tagset is a list of tags, some of them with `*` for any ending. Which one a source uses is decided from its first
lines: the one that knows most of its tags. A tag that the tagset does not know is X.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

from bagpack.errors import UsageError

# One byte of a store is the place of a tag in this list; new tags may only be added at its end.
UNIVERSAL = (
    "X", "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT",
    "SCONJ", "SYM", "VERB",
)  # fmt: skip
CODES = {tag: code for code, tag in enumerate(UNIVERSAL)}
SHORT = {"N": "NOUN", "V": "VERB", "A": "ADJ", "R": "ADV"}
CONTENT = ("ADJ", "ADV", "NOUN", "PROPN", "VERB")
UNKNOWN = "unknown"
ENOUGH = 0.75  # share of the tokens whose tag a tagset must know

_PUNCTUATION = ". , : ; ! ? ( ) [ ] { } `` '' ` ' \" - -- … -LRB- -RRB- -LSB- -RSB- -LCB- -RCB- NFP HYPH"

_PENN = {
    "ADJ": "JJ JJR JJS AFX",
    "ADP": "IN RP",
    "ADV": "RB RBR RBS WRB",
    "AUX": "MD",
    "CCONJ": "CC",
    "DET": "DT PDT WDT",
    "INTJ": "UH",
    "NOUN": "NN NNS",
    "NUM": "CD",
    "PART": "POS TO",
    "PRON": "PRP PRP$ WP WP$ EX",
    "PROPN": "NNP NNPS",
    "PUNCT": _PUNCTUATION,
    "SYM": "SYM $ #",
    "VERB": "VB VBD VBG VBN VBP VBZ",
    "X": "FW LS ADD GW XX",
}

_TABLES: dict[str, dict[str, str]] = {
    "UD": {
        **{tag: tag for tag in UNIVERSAL},
        # The twelve tags of Petrov, Das & McDonald (2012), which came before.
        "CCONJ": "CCONJ CONJ",
        "PART": "PART PRT",
        "PUNCT": "PUNCT .",
    },
    "Penn": _PENN,
    "TreeTagger English": {
        **_PENN,
        "AUX": "MD VB VBD VBG VBN VBP VBZ VH VHD VHG VHN VHP VHZ",
        "PRON": "PP PP$ WP WP$ EX",
        "PROPN": "NP NPS",
        "PUNCT": f"{_PUNCTUATION} SENT",
        "SCONJ": "IN/that",
        "VERB": "VV VVD VVG VVN VVP VVZ",
    },
    "CLAWS5": {
        "ADJ": "AJ0 AJC AJS",
        "ADP": "PRF PRP AVP",
        "ADV": "AV0 AVQ",
        "AUX": "VB* VH* VD* VM*",
        "CCONJ": "CJC",
        "DET": "AT0 DPS DT0 DTQ",
        "INTJ": "ITJ",
        "NOUN": "NN0 NN1 NN2",
        "NUM": "CRD ORD",
        "PART": "POS TO0 XX0",
        "PRON": "EX0 PNI PNP PNQ PNX",
        "PROPN": "NP0",
        "PUNCT": "PUL PUN PUQ PUR",
        "SCONJ": "CJS CJT",
        "SYM": "ZZ0",
        "VERB": "VVB VVD VVG VVI VVN VVZ",
        "X": "UNC",
    },
    "CLAWS7": {
        "ADJ": "JJ JJR JJT JK",
        "ADP": "IF II IO IW RP RPK",
        "ADV": "RA REX RG RGQ RGQV RGR RGT RL RR RRQ RRQV RRR RRT RT",
        "AUX": (
            "VB0 VBDR VBDZ VBG VBI VBM VBN VBR VBZ VD0 VDD VDG VDI VDN VDZ VH0 VHD VHG VHI VHN VHZ VM VMK"
        ),
        "CCONJ": "CC CCB",
        "DET": "APPGE AT AT1 DA DA1 DA2 DAR DAT DB DB2 DD DD1 DD2 DDQ DDQGE DDQV",
        "INTJ": "UH",
        "NOUN": "ND1 NN NN1 NN2 NNA NNB NNL1 NNL2 NNO NNO2 NNT1 NNT2 NNU NNU1 NNU2",
        "NUM": "MC MC1 MC2 MCGE MCMC MD MF",
        "PART": "GE TO XX",
        "PRON": (
            "EX PN PN1 PNQ* PNX1 PPGE PPH1 PPHO1 PPHO2 PPHS1 PPHS2 PPIO1 PPIO2 PPIS1 PPIS2 PPX1 PPX2 PPY"
        ),
        "PROPN": "NP NP1 NP2 NPD1 NPD2 NPM1 NPM2",
        "PUNCT": f"{_PUNCTUATION} Y*",
        "SCONJ": "BCL CS CSA CSN CST CSW",
        "SYM": "FO ZZ1 ZZ2",
        "VERB": "VV0 VVD VVG VVGK VVI VVN VVNK VVZ",
        "X": "FU FW",
    },
    "STTS": {
        "ADJ": "ADJA ADJD",
        "ADP": "APPR APPRART APPO APZR",
        "ADV": "ADV PROAV PAV PWAV",
        "AUX": "VAFIN VAIMP VAINF VAPP VMFIN VMINF VMPP",
        "CCONJ": "KON",
        "DET": "ART PDAT PIAT PIDAT PPOSAT PRELAT PWAT",
        "INTJ": "ITJ",
        "NOUN": "NN",
        "NUM": "CARD",
        "PART": "PTKA PTKANT PTKNEG PTKVZ PTKZU",
        "PRON": "PDS PIS PPER PPOSS PRELS PRF PWS",
        "PROPN": "NE",
        "PUNCT": "$, $. $(",
        "SCONJ": "KOKOM KOUI KOUS",
        "VERB": "VVFIN VVIMP VVINF VVIZU VVPP",
        "X": "FM TRUNC XY",
    },
    "TreeTagger French": {
        "ADJ": "ADJ",
        "ADP": "PRP PRP:det",
        "ADV": "ADV",
        "CCONJ": "KON",
        "DET": "DET:ART DET:POS",
        "INTJ": "INT",
        "NOUN": "NOM",
        "NUM": "NUM",
        "PRON": "PRO PRO:*",
        "PROPN": "NAM",
        "PUNCT": "PUN PUN:cit SENT",
        "SYM": "SYM",
        "VERB": "VER:*",
        "X": "ABR",
    },
    "TreeTagger Italian": {
        "ADJ": "ADJ",
        "ADP": "PRE PRE:det",
        "ADV": "ADV ADV:mente WH NEG",
        "AUX": "AUX:* VER2:* AUX2:*",
        "CCONJ": "CON",
        "DET": "ART DET:* ARTPRE",
        "INTJ": "INT",
        "NOUN": "NOM NOUN",
        "NUM": "NUM NOCAT:num",
        "PRON": "PRO PRO:* CLI CHE",
        "PROPN": "NPR",
        "PUNCT": "PON SENT PUN",
        "SYM": "SYM",
        "VERB": "VER:*",
        "X": "ABR FW LS NOCAT",
    },
    "TreeTagger Spanish": {
        "ADJ": "ADJ",
        "ADP": "PREP PREP/DEL PAL PDEL",
        "ADV": "ADV NEG",
        "AUX": "VE* VH* VM* VS*",
        "CCONJ": "CC CCAD CCNEG",
        "DET": "ART DM QU",
        "INTJ": "ITJN",
        "NOUN": "NC NMEA",
        "NUM": "CARD ORD",
        "PRON": "INT PPC PPO PPX REL SE",
        "PROPN": "NP ACRNM ALFP",
        "PUNCT": "BACKSLASH CM COLON DASH DOTS FS LP QT RP SEMICOLON SLASH",
        "SCONJ": "CQUE CSUBF CSUBI CSUBX",
        "SYM": "CODE FO PERCT SYM ALFS",
        "VERB": "VC* VL*",
        "X": "FW PE PNC UMMX",
    },
}


@dataclass(frozen=True)
class Tagset:
    """A list of tags, each with the universal tag that it maps to."""

    name: str

    @cached_property
    def _codes(self) -> dict[str, int]:
        table = _TABLES.get(self.name, {})
        return {tag: CODES[to] for to, tags in table.items() for tag in tags.split()}

    def find(self, tag: str) -> int | None:
        """The code of a tag's universal tag; None if the tagset does not know it.

        Taggers write two tags where they cannot decide (NN1-VVB in the BNC); the first is the likelier one.
        """
        for candidate in (tag, re.split(r"[-|](?=[A-Z])", tag)[0]):
            beginnings = (f"{candidate[:end]}*" for end in range(len(candidate), 0, -1))
            for name in (candidate, *beginnings):
                if name in self._codes:
                    return self._codes[name]
        return None

    def code(self, tag: str) -> int:
        """The code of a tag's universal tag, X if the tagset does not know it."""
        return self.find(tag) or 0


@cache
def tagset(name: str) -> Tagset:
    """The tagset of this name."""
    if name not in (*_TABLES, UNKNOWN):
        raise UsageError(f"--tagset {name} is unknown; choose one of auto, {', '.join(_TABLES)}")
    return Tagset(name)


def tagset_names() -> list[str]:
    """All that are known."""
    return list(_TABLES)


def identify_tagset(tags: Iterable[str]) -> str:
    """The tagset that knows most of these tags; `unknown` if none knows enough of them."""
    counts = Counter(tags)
    total = counts.total()
    if not total:
        return ""

    def known(name: str) -> int:
        return sum(count for tag, count in counts.items() if tagset(name).find(tag) is not None)

    best = max(_TABLES, key=known)  # of equals, the first
    return best if known(best) >= ENOUGH * total else UNKNOWN


def split_tag(word: str) -> tuple[str, str]:
    """A word and the universal tag that a user wrote behind it; an empty one if there is none.

    >>> split_tag("saw/NOUN"), split_tag("paint/V"), split_tag("and/or"), split_tag("km/h")
    (('saw', 'NOUN'), ('paint', 'VERB'), ('and/or', ''), ('km/h', ''))
    """
    stem, slash, end = word.rpartition("/")
    tag = universal_tag(end) if slash and stem else None
    return (stem, tag) if tag else (word, "")


def with_tag(word: str, tag: str | None) -> str:
    """The word with a tag behind it, unless it has one."""
    return f"{word}/{tag}" if tag and not split_tag(word)[1] else word


def universal_tag(text: str) -> str | None:
    """The universal tag that NOUN, or its short form N, means; None if it is neither.

    Both are written in capitals, so that the `or` of `and/or` is none.
    """
    return SHORT.get(text) or (text if text in CODES else None)
