"""The inflected forms of a target, for every part of speech it can have.

cat → cat, cats, catting, catted, as in the paper's example: a search engine looks for forms, so a lemma is asked
for as the disjunction of its forms. For English they come from lemminflect's tables; a forms file overrides them,
or provides them for another language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from bagpack.corpus.text.casefold import fold_case
from bagpack.errors import UsageError, import_extra
from bagpack.tasks.files import read_text_file
from bagpack.tasks.pairs import normalise_target

# In which forms are given: plurals and third person first, then -ing, past, participle; comparatives last.
_ORDER = ("NNS", "VBZ", "VBP", "VBG", "VBD", "VBN", "JJR", "JJS", "RBR", "RBS")
_NOT_ONLY_AUXILIARIES = {  # which is all that lemminflect knows them as
    "can": ("cans", "canning", "canned"),
    "will": ("wills", "willing", "willed"),
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
        if not re.fullmatch(r"[^\W\d_]+(?:-[^\W\d_]+)*", word):
            return ()  # 1990, don't, AT&T
        lemma = _lemma(word)
        for known in (word, lemma):
            if forms := _inflections(known):
                return (known, *_lettered(known, forms))
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


def _inflections(lemma: str) -> list[str]:
    """The forms of a lemma but itself, in the order of `_ORDER`; none if lemminflect does not know it."""
    library = import_extra("lemminflect", "lemminflect", "all", "inflecting English words")
    tagged = library.getAllInflections(lemma)
    known = [form for tag in _ORDER for form in tagged.get(tag, ())]
    return [form for form in [*known, *_NOT_ONLY_AUXILIARIES.get(lemma, ())] if form != lemma]
