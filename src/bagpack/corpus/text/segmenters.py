"""Words of Chinese and Japanese, which are written without spaces, by jieba and by fugashi (MeCab)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from bagpack.corpus.text.lemmas import AnnotatedToken
from bagpack.corpus.text.sentences import split_sentences
from bagpack.errors import import_extra
from bagpack.files import cache_directory

Word = tuple[str, str]  # form and lemma


class SegmentingAnnotator:
    """Sentences by sentencex, words by a segmenter."""

    in_context: Literal[True] = True

    def __init__(self, lang: str, words: Callable[[str], Iterable[Word]]) -> None:
        self.lang = lang
        self._words = words

    def annotate(self, paragraphs: Iterable[str]) -> Iterator[list[list[AnnotatedToken]]]:
        """Yield the sentences of each paragraph, in order; white space is in no token."""
        for paragraph in paragraphs:
            sentences = []
            for sentence in split_sentences(paragraph, self.lang):
                tokens = []
                position = 0
                for form, lemma in self._words(sentence):
                    start = sentence.find(form, position)
                    glued = start == position and start > 0
                    position = start + len(form)
                    tokens.append(AnnotatedToken(form, lemma, glued))
                if tokens:
                    sentences.append(tokens)
            yield sentences


def chinese() -> SegmentingAnnotator:
    """Words by jieba; a form is its own lemma."""
    jieba = import_extra("jieba", "jieba", "chinese", "cutting Chinese into words")
    jieba.setLogLevel(logging.WARNING)
    segmenter = jieba.Tokenizer()
    segmenter.tmp_dir = str(cache_directory())  # not the shared one, where anyone could have left a file
    return SegmentingAnnotator(
        "zh", lambda text: ((word, word) for word in segmenter.cut(text) if word.strip())
    )


def japanese() -> SegmentingAnnotator:
    """Words by MeCab with UniDic; the lemma is the dictionary form as it is written."""
    fugashi, _ = (
        import_extra(name, "fugashi", "japanese", "cutting Japanese into words")
        for name in ("fugashi", "unidic_lite")  # and its dictionary
    )
    tagger = fugashi.Tagger()
    return SegmentingAnnotator(
        "ja", lambda text: ((word.surface, word.feature.orthBase or word.surface) for word in tagger(text))
    )
