"""Lemmas of distinct forms, without context; for Chinese and Japanese, words and lemmas by a segmenter.

The default lemmatiser needs no context, so a corpus of a billion tokens costs as many look-ups as it has
distinct forms. For English, simplemma's answer is corrected where lemminflect knows the form and disagrees
(``wives`` → ``wife``, ``fixed`` → ``fix``); a few frequent forms are decided by hand, as treebanks
most often have them (``left`` → ``leave``, ``'d`` → ``would``).
"""

from __future__ import annotations

import gzip
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from bagpack.corpus.text.languages import language
from bagpack.corpus.text.sentences import split_sentences
from bagpack.errors import UsageError, import_extra
from bagpack.files import cache_directory

Word = tuple[str, str]  # form and lemma


class Annotator:
    """Gives lemmas to distinct forms, here the form itself; `words`, if it is there, cuts sentences into tokens."""

    def __init__(self, lang: str, words: Callable[[str], Iterable[Word]] | None = None) -> None:
        self.lang, self.words = lang, words

    def lemmatize(self, forms: Sequence[str]) -> list[str]:
        return list(forms)

    def annotate(self, paragraph: str) -> Iterator[list[tuple[str, str, bool]]]:
        """The sentences of a paragraph by `words`: forms, lemmas, and whether a form is glued to the one before."""
        for sentence in split_sentences(paragraph, self.lang):
            tokens, position = [], 0
            for form, lemma in self.words(sentence) if self.words else ():
                start = sentence.find(form, position)
                tokens.append((form, lemma, start == position > 0))
                position = start + len(form)
            if tokens:
                yield tokens


@cache
def get_annotator(spec: str, lang: str) -> Annotator:
    """The annotator that ``simplemma``, ``jieba``, ``fugashi`` or ``none`` names.

    >>> get_annotator("simplemma", "en").lemmatize(["lions", "went", "n't"])
    ['lion', 'go', 'not']
    """
    if spec == "none":
        return Annotator(lang)
    if spec in ("jieba", "fugashi"):
        return Annotator(lang, chinese() if spec == "jieba" else japanese())
    if spec == "simplemma":
        from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

        if lang not in SUPPORTED_LANGUAGES:
            raise UsageError(
                f"there are no lemmas for --lang {lang!r}; choose one of {' '.join(sorted(SUPPORTED_LANGUAGES))}, or "
                f"--annotator none --level form for any language"
            )
        return EnglishLemmatizer() if lang == "en" else SimplemmaLemmatizer(lang)
    raise UsageError(f"--annotator {spec} is unknown; choose auto, simplemma, jieba, fugashi or none")


# Only what is written in letters is inflected: not 4th, 1990s, addresses or punctuation.
_INFLECTED = re.compile(r"[^\W\d_](?:[^\d/@_:]*[^\W\d_])?\.?")


# The segments of a corpus share their frequent forms, which come first. About 70 MB for this number.
_REMEMBERED = 400_000


class SimplemmaLemmatizer(Annotator):
    """simplemma's dictionary and rules of one language."""

    def __init__(self, lang: str) -> None:
        from simplemma.strategies import DefaultStrategy

        super().__init__(lang)
        self._decided: dict[str, str] = dict(re.findall(r"(\S+)\s(\S+?)(?:,|$)", language(lang).lemmas))
        self._look_up = DefaultStrategy().get_lemma
        self._known: dict[str, str] = {}

    def lemmatize(self, forms: Sequence[str]) -> list[str]:
        known = self._known.get
        return [known(form) or self._new(form) for form in forms]

    def _new(self, form: str) -> str:
        lemma = self._lemma(form)
        if len(self._known) < _REMEMBERED:  # a cache of the latest forms would forget the frequent ones
            self._known[form] = lemma
        return lemma

    def _lemma(self, form: str) -> str:
        word = form.lower().replace("’", "'")
        if word in self._decided:
            return self._decided[word]
        if word[0] == "-" and word.lstrip("-t") and self.lang == "fr":  # -tu, -t-elle
            return word.removeprefix("-t").lstrip("-") if word.startswith("-t-") else word[1:]
        return self._of_word(form, word) if form.isalpha() or _INFLECTED.fullmatch(form) else form

    def _of_word(self, form: str, word: str) -> str:
        return self._look_up(form, self.lang) or form


class EnglishLemmatizer(SimplemmaLemmatizer):
    """simplemma, corrected by lemminflect and a short list."""

    def __init__(self) -> None:
        from simplemma import strategies

        super().__init__("en")
        self._lexicon = _lemminflect_lexicon()
        # Those of simplemma's strategies that can know a word of letters alone. Most distinct forms are names that none
        # knows, and asking all would take half as long again.
        dictionary = strategies.DictionaryLookupStrategy()
        self._of_letters = [
            dictionary.get_lemma,
            strategies.RulesStrategy().get_lemma,
            strategies.PrefixDecompositionStrategy(dictionary_lookup=dictionary).get_lemma,
            strategies.AffixDecompositionStrategy(False, dictionary).get_lemma,
        ]

    def _of_word(self, form: str, word: str) -> str:
        if "-" in word and word.endswith(("ing", "ed")) and not word.startswith(_VERB_PREFIXES):
            return form  # an adjective (snow-covered, meat-eating): there is no verb to snow-cover
        known = self._lexicon.get(word, ())
        if form.isalpha() and "ʼ" not in form:  # an apostrophe, and a letter to Python
            lemma = next((found for search in self._of_letters if (found := search(form, "en"))), form)
        else:
            lemma = super()._of_word(form, word)
        if not known or word in _SIMPLEMMA_IS_RIGHT or lemma.lower() in known:
            return lemma
        if lemma.lower() == word and word.endswith(("ing", "ed")):
            # Nouns and adjectives of their own (mining, civilized) that lemminflect has as verb forms only.
            return lemma
        return next((candidate for candidate in known if candidate != word), form)


_SIMPLEMMA_IS_RIGHT = frozenset("me him her them us this that these those thanks wan ai".split())  # noqa: SIM905

_VERB_PREFIXES = ("re-", "co-", "pre-", "de-", "un-", "mis-", "out-", "over-", "under-", "sub-")


@cache
def _lemminflect_lexicon() -> dict[str, tuple[str, ...]]:
    """The lemmas of each form, verbs first, without auxiliaries."""
    # Read from its file: importing lemminflect imports spaCy too wherever that is installed.
    found = find_spec("lemminflect")
    path = Path(str(found and found.origin)).with_name("resources") / "lemma_lu.csv.gz"
    order = ("verb", "noun", "adj", "adv")
    lemmas: dict[str, list[tuple[int, str]]] = {}
    auxiliaries = set()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            form, category, spellings = line.rstrip("\n").lower().split(",")
            if category not in order:
                auxiliaries.add(form)
                continue
            rank = order.index(category)
            lemmas.setdefault(form, []).extend((rank, spelling) for spelling in spellings.split("/"))
    ordered = ((form, sorted(ranked, key=lambda pair: pair[0])) for form, ranked in lemmas.items())
    return {form: tuple(own for _, own in ranked) for form, ranked in ordered if form not in auxiliaries}


def chinese() -> Callable[[str], Iterable[Word]]:
    """Words by jieba; a form is its own lemma."""
    jieba = import_extra("jieba", "jieba", "chinese", "cutting Chinese into words")
    jieba.setLogLevel(logging.WARNING)
    segmenter = jieba.Tokenizer()
    segmenter.tmp_dir = str(cache_directory())  # not the shared one, where anyone could have left a file
    return lambda text: ((w, w) for w in segmenter.cut(text) if w.strip())


def japanese() -> Callable[[str], Iterable[Word]]:
    """Words by MeCab with UniDic; the lemma is the dictionary form as it is written."""
    why = ("fugashi", "japanese", "cutting Japanese into words")
    import_extra("unidic_lite", *why)  # its dictionary
    tagger = import_extra("fugashi", *why).Tagger()
    return lambda text: ((w.surface, w.feature.orthBase or w.surface) for w in tagger(text))
