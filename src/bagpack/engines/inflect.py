"""The inflected forms of a target, for every part of speech it can have.

cat → cat, cats, catting, catted, as in the paper's example: a search engine looks for forms, so a lemma is asked
for as the disjunction of its forms. For English they come from lemminflect's tables; a forms file overrides them,
or provides them for another language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

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


class Inflector:
    """Gives the forms of a target, itself first, case-folded, each once.

    Only English (``en``) is inflected; in any other language a word has the forms that `overrides` give it, which are
    taken instead of generated ones.

    >>> Inflector().forms("cat")
    ('cat', 'cats', 'catting', 'catted')
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

    def _of_word(self, word: str) -> list[str]:
        if not re.fullmatch(r"[^\W\d_]+(?:-[^\W\d_]+)*", word):
            return []  # 1990, don't, AT&T
        from bagpack.corpus.text.lemmas import get_annotator

        library = import_extra("lemminflect", "lemminflect", "all", "inflecting English words")
        lemmatize: Any = get_annotator("simplemma", "en")
        for lemma in (word, lemmatize.lemmatize([word])[0].casefold()):
            if tagged := library.getAllInflections(lemma):
                known = [form for tag in _ORDER for form in tagged.get(tag, ())]
                if forms := [*known, *_NOT_ONLY_AUXILIARIES.get(lemma, ())]:
                    break
        else:  # hardly any word outside lemminflect's 40,000 is not a noun (smartphone), or it has no other form
            lemma, forms = word, [*library.getInflection(word, "NNS", inflect_oov=True)]
        # Generated forms with non-letters (O.K.'ing, book shelves) are dropped, except those that the word has itself.
        return [lemma, *(form for form in forms if all(sign.isalpha() or sign in lemma for sign in form))]


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
