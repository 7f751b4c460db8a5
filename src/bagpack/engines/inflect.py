"""The inflected forms of a target, for every part of speech it can have.

cat → cat, cats, catting, catted, as in the paper's example: a search engine looks for forms, so a lemma is asked
for as the disjunction of its forms. For English they come from lemminflect's tables; a forms file overrides them,
or provides them for another language.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from bagpack.corpus.text.casefold import fold_case
from bagpack.errors import UsageError, extra_file
from bagpack.tasks.textfile import read_text_file
from bagpack.tasks.words import normalise_target

_COLUMNS = {  # of lemminflect's table, by part of speech
    "noun": ("NNS",),
    "verb": ("VBD", "VBN", "VBG", "VBZ"),
    "adj": ("JJR", "JJS"),
    "adv": ("RBR", "RBS"),
}
# In which forms are given: plurals and third person first, then -ing, past, participle; comparatives last.
_ORDER = ("NNS", "VBZ", "VBP", "VBG", "VBD", "VBN", "JJR", "JJS", "RBR", "RBS")
_AUXILIARIES = {
    "be": ("is", "am", "are", "being", "was", "were", "been"),
    "can": ("could",),
    "will": ("would",),
}

_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)$")
_CONSONANT_Y = re.compile(r"[^aeiou]y$")


class Inflector:
    """Gives the forms of a target, itself first, case-folded, each once.

    Parameters
    ----------
    lang
        Only English (``en``) is inflected; in any other language a word has the forms that `overrides` give it.
    overrides
        Forms of words that are to be taken as they are, instead of the generated ones.

    Examples
    --------
    >>> Inflector().forms("cat")
    ('cat', 'cats', 'catting', 'catted')
    >>> Inflector().forms("ice cream")[:2]
    ('ice cream', 'ice creams')
    """

    def __init__(self, lang: str = "en", overrides: Mapping[str, Iterable[str]] | None = None) -> None:
        self.lang = lang
        self.overrides = {
            fold_target(word): _distinct([word, *forms]) for word, forms in (overrides or {}).items()
        }

    def forms(self, word: str) -> tuple[str, ...]:
        """All forms of a target; those of its lemma if the word itself is an inflected form (veins → vein)."""
        target = fold_target(word)
        if target in self.overrides:
            return self.overrides[target]
        if self.lang.partition("-")[0].lower() != "en":
            return (target,)
        before, _, last = target.rpartition(" ")
        generated = self._of_word(last)
        return _distinct(f"{before} {form}" if before else form for form in (last, *generated))

    def _of_word(self, word: str) -> tuple[str, ...]:
        table = _inflections()
        if not re.fullmatch(r"[^\W\d_]+(?:-[^\W\d_]+)*", word):
            return ()  # 1990, don't, AT&T
        if word in table:
            return tuple(_lettered(word, table[word]))
        lemma = _lemma(word)
        if lemma != word and lemma in table:
            return (lemma, *_lettered(lemma, table[lemma]))
        # Hardly any word outside lemminflect's 40,000 is not a noun (smartphone), or it has no other form.
        return tuple(_lettered(word, [_plural(word)]))


def read_forms(path: str | Path) -> dict[str, tuple[str, ...]]:
    """A forms file: tab-separated lines of a word and its forms; `#` starts a comment.

    The word itself always counts as one of its forms. A word on two lines has the forms of both.
    """
    file = read_text_file(path)
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(file.lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if not cells[0]:
            raise file.error(number, "the line begins with an empty word; write word<TAB>form<TAB>form …")
        word = fold_target(cells[0])
        found[word] = _distinct([*found.get(word, ()), word, *filter(None, cells[1:])])
    if not found:
        raise UsageError(f"{file.name} has no forms; write one line per word: word<TAB>form<TAB>form …")
    return found


def fold_target(word: str) -> str:
    """A target as engines look for it: blanks for underscores, composed and case-folded."""
    return fold_case(normalise_target(word))


def _distinct(forms: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(fold_target, forms)))


def _lettered(word: str, forms: Iterable[str]) -> Iterator[str]:
    """Drop generated forms with non-letters (O.K.'ing, book shelves), except those that the word has itself."""
    for form in forms:
        if all(character.isalpha() or character in word for character in form):
            yield form


def _plural(word: str) -> str:
    if _SIBILANT.search(word):
        return word + "es"
    return word[:-1] + "ies" if _CONSONANT_Y.search(word) else word + "s"


@cache
def _lemma(word: str) -> str:
    from bagpack.corpus.text.lemmas import EnglishLemmatizer

    return EnglishLemmatizer().lemmatize([word])[0].casefold()


@cache
def _inflections() -> dict[str, tuple[str, ...]]:
    """The forms of each lemma but itself, in the order of `_ORDER`.

    Read from lemminflect's files: importing it imports spaCy too wherever that is installed. The files are not
    part of its interface, so the version is pinned, and a test compares them with what its public functions answer.
    """
    resources = extra_file("lemminflect", "resources", "lemminflect", "all", "inflecting English words")
    tagged: dict[str, list[tuple[int, str]]] = {}
    try:
        with gzip.open(resources / "infl_lu.csv.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                _add_line(tagged, line)
        with open(resources / "infl_overrides.csv", encoding="utf-8") as lines:
            for line in lines:
                lemma, tag, spellings = line.strip().split(",")[:3] if line.count(",") >= 2 else ("", "", "")
                if lemma and tag in _ORDER:
                    _add(tagged, lemma.casefold(), tag, spellings.casefold())
    except OSError as error:
        raise UsageError(
            f"the installed lemminflect lacks its table {error.filename}; install it again: pip install "
            f"--force-reinstall 'lemminflect>=0.2.3,<0.3'"
        ) from None
    for lemma, forms in _AUXILIARIES.items():
        _add(tagged, lemma, "VBZ", "/".join(forms))
    return {
        lemma: tuple(
            dict.fromkeys(form for _, form in sorted(entry, key=lambda pair: pair[0]) if form != lemma)
        )
        for lemma, entry in tagged.items()
    }


def _add_line(tagged: dict[str, list[tuple[int, str]]], line: str) -> None:
    lemma, category, *cells = line.rstrip("\n").casefold().split(",")
    for tag, cell in zip(_COLUMNS.get(category, ()), cells, strict=False):
        _add(tagged, lemma, tag, cell)


def _add(tagged: dict[str, list[tuple[int, str]]], lemma: str, tag: str, spellings: str) -> None:
    entry = tagged.setdefault(lemma, [])
    entry.extend((_ORDER.index(tag), form) for form in spellings.split("/") if form)
