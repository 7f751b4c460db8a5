"""The places where a word occurs, and the words around them by grammatical pattern."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.occurrences import Observation, find_occurrences
from bagpack.contexts.targets import ContextSource, Target
from bagpack.contexts.windows import Windows
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.text.tags import CODES, UNIVERSAL
from bagpack.corpus.words import (
    has_letter,
    has_letter_or_digit,
    is_auxiliary,
    is_function_word,
)
from bagpack.explain.keyness import CHANCE, LEAST, Keyword, log_dice, log_likelihood, numbers_of, spread
from bagpack.explain.patterns import (
    CLOSED,
    OPEN,
    OUTSIDE,
    TAGGED,
    TAGGED_ENGLISH,
    UNTAGGED,
    UNTAGGED_ENGLISH,
    Pattern,
    collocates_of,
    fill_places,
    nearby,
)

I64 = NDArray[np.int64]

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
        self.positions: list[tuple[int, I64]] = []  # by shard
        length, reach = len(target.keys), max(windows.between + 1, 5)
        english = corpus.options.lang == "en"
        self.tagged = not {"NOUN", "VERB"}.isdisjoint(corpus.tags)
        found = [find_occurrences(shard, [target]) for shard in corpus.shards]
        picks = spread([int(place.counts[0]) for place in found], MOST)
        keys, tags, own = [], [], []
        for number, (shard, place, pick) in enumerate(zip(corpus.shards, found, picks, strict=True)):
            if not pick.size:
                continue
            positions = place.positions(shard.postings, 0)[pick].astype(np.int64)
            around = np.empty((positions.size, 2 * reach), np.int64)
            around_tags = np.empty(around.shape, np.uint8)
            fill_places(
                shard.tokens, shard.key_of_type, shard.tags, positions, length, reach, around, around_tags
            )
            keys.append(numbers_of(shard, around, self.corpus)[around])
            tags.append(around_tags)
            own.append(shard.tags[positions + length - 1])
            self.positions.append((number, positions))
        self.keys, self.tags, self.own = np.concatenate(keys), np.concatenate(tags), np.concatenate(own)
        self.sampled = len(self.keys)
        if not self.tagged:
            self._tag_by_words()
        rules: tuple[Pattern, ...] = TAGGED if self.tagged else UNTAGGED
        if english:
            rules = TAGGED_ENGLISH if self.tagged else UNTAGGED_ENGLISH
        self.found: dict[str, I64] = {}
        for rule in rules:
            links = self.corpus.lexicon.keys.find(list(rule.link)) if rule.link else np.empty(0, np.int64)
            more = collocates_of(rule, self.keys, self.tags, self.own, links)
            self.found[rule.name] = np.concatenate([self.found.get(rule.name, more[:0]), more])
        for name, wanted in NEARBY.items() if self.tagged else (("words nearby", (OPEN,)),):
            self.found[name] = nearby(self.keys, self.tags, wanted)

    def _tag_by_words(self) -> None:
        """Without tags: function words, punctuation, and all others."""
        used, place = np.unique(self.keys, return_inverse=True)
        codes = np.full(used.size, CODES[OPEN], np.uint8)
        codes[is_function_word(self.corpus, used) | ~has_letter(self.corpus, used)] = CODES[CLOSED]
        codes[(used >= 0) & ~has_letter_or_digit(self.corpus, used)] = CODES["PUNCT"]
        outside = self.tags == OUTSIDE
        self.tags = codes[place.reshape(self.keys.shape)]
        self.tags[outside] = OUTSIDE

    def examples(self, number: int) -> list[Observation]:
        """Some occurrences, evenly over those that were looked at."""
        ends = np.cumsum([positions.size for _, positions in self.positions])
        chosen = np.linspace(0, self.sampled - 1, min(number, self.sampled)).astype(int).tolist()
        found = []
        for i in chosen:
            part = int(np.searchsorted(ends, i, side="right"))
            shard, positions = self.positions[part]
            found.append(Observation(shard, int(positions[i - ends[part]]), -1, 0))
        return found

    def parts_of_speech(self) -> dict[str, int]:
        """How often the word has each part of speech; empty without tags."""
        if not self.tagged:
            return {}
        codes, counts = np.unique(self.own, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return {UNIVERSAL[codes[i]]: int(counts[i]) for i in order}

    def collocates(self, numbers: I64, top: int | None = None, by: str = "llr") -> list[Collocate]:
        """The words among the collocates of a pattern, without function words and the word itself.

        With `top`, the strongest of those that occur more often than by chance.
        """
        lexicon = self.corpus.lexicon
        found, counts = np.unique(numbers[numbers >= 0], return_counts=True)
        totals = lexicon.counts[found].astype(np.int64)
        window, whole = int(numbers.size), max(self.corpus.tokens, 1)
        llr = log_likelihood(counts, window, totals, whole)
        scale = self.count / max(self.sampled, 1)
        dice = log_dice(counts.astype(np.float64) * scale, self.count, totals)
        kept = has_letter(self.corpus, found) & ~np.isin(found, lexicon.keys.find(list(self.target.words)))
        kept &= ~(is_auxiliary if self.tagged else is_function_word)(self.corpus, found)
        if top is not None:
            kept &= (counts >= LEAST) & (llr >= CHANCE)
        chosen = np.flatnonzero(kept)
        if top is not None:
            chosen = chosen[np.argsort(-(llr if by == "llr" else dice)[chosen], kind="stable")][:top]
        return [
            Collocate(
                lexicon.keys[int(found[i])], int(counts[i]), round(float(totals[i]) * window / whole, 3),
                round(float(llr[i]), 1), round(float(dice[i]), 2),
            )
            for i in chosen.tolist()
        ]  # fmt: skip


def occurrences(corpus: Corpus, target: Target) -> int:
    """How often a target occurs in a corpus; of a single key, without touching its postings."""
    if target.is_key:
        index = int(corpus.lexicon.keys.find([target.keys[0]])[0])
        return int(corpus.lexicon.counts[index]) if index >= 0 else 0
    return sum(int(find_occurrences(shard, [target]).counts[0]) for shard in corpus.shards)
