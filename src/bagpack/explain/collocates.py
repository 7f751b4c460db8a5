"""The places where a word occurs, and the words around them by grammatical pattern."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bagpack.arrays import I64, U8
from bagpack.contexts.concordance import tokens_within
from bagpack.contexts.occurrences import Observations, find_occurrences
from bagpack.contexts.targets import ContextSource, Target
from bagpack.contexts.windows import Windows
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.format import TYPE_MASK
from bagpack.corpus.segment import Segment
from bagpack.corpus.text.tags import CODES, UNIVERSAL
from bagpack.corpus.words import has_letter, is_auxiliary, is_function_word
from bagpack.explain.keyness import Keyword, keywords, log_dice, numbers_of, spread
from bagpack.explain.patterns import CLOSED, OPEN, OUTSIDE, collocates_of, patterns_for, tag_mask

MOST = 200_000  # occurrences that are looked at, evenly over the corpus
NEARBY = {"nouns nearby": ("NOUN", "PROPN"), "verbs nearby": ("VERB",), "adjectives nearby": ("ADJ",),
          "adverbs nearby": ("ADV",)}  # fmt: skip


@dataclass(frozen=True)
class Collocate(Keyword):
    """A word in a pattern: its count there, the count by chance, log-likelihood ratio and logDice."""

    logdice: float


class WordPlaces:
    """The places of a word, and the lexicon numbers of its collocates in each pattern."""

    def __init__(self, source: ContextSource, target: Target, windows: Windows) -> None:
        corpus = source.for_words
        self.corpus, self.target = source.for_basis, target
        self.count = occurrences(corpus, target)
        self.positions: list[tuple[int, I64]] = []  # by segment
        length, reach = len(target.keys), max(windows.between + 1, 5)
        self.tagged = not {"NOUN", "VERB"}.isdisjoint(corpus.tags)
        found = [find_occurrences(segment, [target]) for segment in corpus.segments]
        picks = spread([int(place.counts[0]) for place in found], MOST)
        keys, tags, own = [], [], []
        for number, (segment, place, pick) in enumerate(zip(corpus.segments, found, picks, strict=True)):
            if not pick.size:
                continue
            positions = place.positions(segment.postings, 0)[pick].astype(np.int64)
            around, around_tags = look_around(segment, positions, length, reach)
            keys.append(numbers_of(segment, around, self.corpus)[around])
            tags.append(around_tags)
            own.append(segment.tags[positions + length - 1])
            self.positions.append((number, positions))
        self.keys, self.tags, self.own = np.concatenate(keys), np.concatenate(tags), np.concatenate(own)
        self.sampled = len(self.keys)
        if not self.tagged:
            self._tag_by_words()
        self.found: dict[str, I64] = {}
        for rule in patterns_for(self.tagged, english=corpus.options.lang == "en"):
            links = self.corpus.lexicon.keys.find(list(rule.link)) if rule.link else np.empty(0, np.int64)
            more = collocates_of(rule, self.keys, self.tags, self.own, links)
            self.found[rule.name] = np.concatenate([self.found.get(rule.name, more[:0]), more])
        for name, wanted in NEARBY.items() if self.tagged else (("words nearby", (OPEN,)),):
            self.found[name] = self.keys[tag_mask(wanted)[self.tags]]

    def _tag_by_words(self) -> None:
        """Without tags: function words, punctuation, and all others."""
        used, place = np.unique(self.keys, return_inverse=True)
        codes = np.full(used.size, CODES[OPEN], np.uint8)
        codes[is_function_word(self.corpus, used) | ~has_letter(self.corpus, used)] = CODES[CLOSED]
        codes[(used >= 0) & ~has_letter(self.corpus, used, str.isalnum)] = CODES["PUNCT"]
        outside = self.tags == OUTSIDE
        self.tags = codes[place.reshape(self.keys.shape)]
        self.tags[outside] = OUTSIDE

    def examples(self, number: int) -> list[Observations]:
        """Some occurrences by segment, evenly over those that were looked at."""
        picks = spread([positions.size for _, positions in self.positions], number)
        return [
            Observations(segment, positions[pick], np.full(len(pick), -1), np.zeros(len(pick), np.int64))
            for (segment, positions), pick in zip(self.positions, picks, strict=True)
        ]

    def parts_of_speech(self) -> dict[str, int]:
        """How often the word has each part of speech; empty without tags."""
        if not self.tagged:
            return {}
        codes, counts = np.unique(self.own, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return {UNIVERSAL[codes[i]]: int(counts[i]) for i in order}

    def collocates(self, numbers: I64, top: int) -> list[Collocate]:
        """The strongest words among the collocates of a pattern, without function words and the word itself."""
        lexicon = self.corpus.lexicon
        skipped = is_auxiliary if self.tagged else is_function_word
        own = lexicon.keys.find(list(self.target.words))
        found = keywords(
            numbers, self.corpus, top,
            lambda used: has_letter(self.corpus, used) & ~np.isin(used, own) & ~skipped(self.corpus, used),
        )  # fmt: skip
        totals = lexicon.counts[lexicon.keys.find([word.term for word in found])]
        scale = self.count / max(self.sampled, 1)
        dice = log_dice(np.array([word.count * scale for word in found]), self.count, totals)
        return [
            Collocate(**vars(word), logdice=round(float(own), 2))
            for word, own in zip(found, dice, strict=True)
        ]


def look_around(segment: Segment, positions: I64, length: int, reach: int) -> tuple[I64, U8]:
    """Keys and tags of the `reach` tokens before and the `reach` after each position, -1 outside its sentence."""
    before = tokens_within(segment, positions, -1, reach)[:, None]
    after = tokens_within(segment, positions + length, 1, reach)[:, None]
    steps = np.arange(reach)
    at = positions[:, None] + np.concatenate([steps - reach, steps + length])
    inside = np.concatenate([steps >= reach - before, steps < after], axis=1)
    at[~inside] = 0
    keys = segment.key_of_type[segment.tokens[at] & TYPE_MASK].astype(np.int64)
    return np.where(inside, keys, -1), np.where(inside, segment.tags[at], OUTSIDE).astype(np.uint8)


def occurrences(corpus: Corpus, target: Target) -> int:
    """How often a target occurs in a corpus; of a single key, without touching its postings."""
    if target.is_key:
        index = int(corpus.lexicon.keys.find([target.keys[0]])[0])
        return int(corpus.lexicon.counts[index]) if index >= 0 else 0
    return sum(int(find_occurrences(segment, [target]).counts[0]) for segment in corpus.segments)
