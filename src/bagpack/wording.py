"""Features, conditions and counts in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bagpack.names import COSINE, PRODUCT, parse_feature

_PLACES = {"pre": "before", "betw": "between", "post": "after"}

_STATISTICS = {
    "pair:w1 first": "how often {w1} comes before {w2}",
    "pair:w2 first": "how often {w2} comes before {w1}",
    "pair:together": "{w1} and {w2} are seen together",
    "pair:PMI": "how much more often than by chance {w1} and {w2} are together",
    "pair:order": "how much more often {w1} comes first than {w2}",
    "cosine:v1 v2": "how similar the contexts of {w1} and {w2} are",
}

CONDITIONS = {
    "v1v2": "each word's own contexts",
    "v12": "the contexts of the two together",
    "v1v2v12": "both",
    "majority": "always the most frequent label",
    "words-only": "a model that knows only which words are in the pair",
    "random": "a random guess",
    "mean": "always the mean rating",
}


_BLOCKS = {
    "v1": "{w1} alone",
    "v2": "{w2} alone",
    "v12": "together",
    "v1·v2": "in common",
    "v1−v2": "what sets them apart",
    "cosine": "how similar",
    "pair": "how often together",
}


class FeatureWords(NamedTuple):
    """The parts of a feature's name: the term, its position, and the same as a pattern of words."""

    term: str
    place: str
    pattern: str


def feature_words(name: str, w1: str = "w1", w2: str = "w2") -> FeatureWords | None:
    """Take a feature's name apart, or None when it is not one of ours.

    >>> feature_words("v12:-betw:such as")
    FeatureWords(term='such as', place='between, w2 first', pattern='w2 … such as … w1')
    """
    feature = parse_feature(name)
    if feature is None or not feature.term:
        return None
    block, segment, term = feature
    if block in ("v1", "v2"):
        word = w1 if block == "v1" else w2
        pattern = f"{term} … {word}" if segment == "pre" else f"{word} … {term}"
        return FeatureWords(term, f"{_PLACES[segment]} {word}", pattern)
    if block == PRODUCT:
        # Two contexts of two words: a pattern with all three would read as one phrase.
        where = _PLACES[segment]
        place = f"{where} {w1} and {where} {w2}"
        return FeatureWords(term, place, f"“{term}” occurs {place}")
    order, place = segment[0], segment[1:]
    first, second = (w1, w2) if order == "+" else (w2, w1)
    parts = [first, second]
    parts.insert(("pre", "betw", "post").index(place), term)
    return FeatureWords(term, f"{_PLACES[place]}, {first} first", " … ".join(parts))


def describe_feature(name: str, w1: str = "w1", w2: str = "w2", mark: str = "*") -> str:
    """A feature in words, its term between marks; a name that is not a feature of ours comes back as it is.

    >>> describe_feature("v12:-betw:such as")
    '*such as* between, w2 first'
    >>> describe_feature("v1:pre:the")
    '*the* before w1'
    >>> describe_feature("v12:+post:of", "lion", "cat")
    '*of* after, lion first'
    """
    if name in _STATISTICS:
        return _STATISTICS[name].format(w1=w1, w2=w2)
    words = feature_words(name, w1, w2)
    return name if words is None else f"{mark}{words.term}{mark} {words.place}"


class FeatureSaid(NamedTuple):
    """A feature as it is shown: the pattern first, since a term alone would run into the sentence."""

    pattern: str
    place: str  # position of the term; empty if the pattern is a sentence


def say_feature(name: str, w1: str = "w1", w2: str = "w2") -> FeatureSaid:
    """A feature's pattern and its place; statistics have words instead, and a name that is not ours is kept.

    >>> say_feature("v12:+betw:of", "leaf", "tree")
    FeatureSaid(pattern='leaf … of … tree', place='between, leaf first')
    >>> say_feature("pair:order", "leaf", "tree")
    FeatureSaid(pattern='how much more often leaf comes first than tree', place='')
    >>> say_feature("v1·v2:post:species", "feather", "bird").pattern
    '“species” occurs after feather and after bird'
    """
    words = feature_words(name, w1, w2)
    if words is None:
        return FeatureSaid(describe_feature(name, w1, w2), "")
    return FeatureSaid(words.pattern, "" if words.pattern.endswith(words.place) else words.place)


def say_evidence(name: str, count: int, w1: str = "w1", w2: str = "w2") -> str:
    """How often a feature was counted, and what the number means where it is not that of its lines.

    >>> say_evidence("v1·v2:pre:cause", 11), say_evidence("v12:+betw:of", 2)
    ('11× with both', '2×')
    >>> say_evidence("pair:order", -3, "cat", "lion")
    '3× more with lion first'
    """
    block = name.partition(":")[0]
    if block == PRODUCT:
        return f"{count:,}× with both"
    if block == COSINE:
        return f"{count:,} in common"
    if name == "pair:order":
        if not count:
            return "as often either way"
        word = w1 if count > 0 else w2
        return f"{abs(count):,}× more with {word} first"
    return f"{count:,}×"


def first_words(text: str, most: int) -> str:
    """The beginning of a text, at most ``most`` characters of it, cut between words.

    >>> first_words("leaf of a tree", 9), first_words("leaf", 9)
    ('leaf of …', 'leaf')
    """
    return text if len(text.strip()) <= most else f"{text[:most].rpartition(' ')[0]} …"


def last_words(text: str, most: int) -> str:
    """The end of a text, likewise.

    >>> last_words("leaf of a tree", 8)
    '… a tree'
    """
    return text if len(text.strip()) <= most else f"… {text[len(text) - most :].partition(' ')[2]}"


def say_times(count: int) -> str:
    """How often, in words.

    >>> say_times(0), say_times(1), say_times(1200)
    ('never', 'once', '1,200 times')
    """
    return "once" if count == 1 else f"{count:,} times" if count else "never"


def say_nearest(w1: str, w2: str, counts: Sequence[int], window: int, between: int | None) -> str:
    """For two words that never co-occur: how often each occurs, and how near they come.

    >>> say_nearest("cat", "tiger", (7, 3), 5, 9)
    'cat occurs 7 times, tiger 3 times; the closest have 9 tokens between them (at most 5 are counted):'
    >>> say_nearest("cat", "tiger", (7, 1), 0, 1)
    'cat occurs 7 times, tiger once; the closest have 1 token between them (at most 0 are counted):'
    >>> say_nearest("cat", "tiger", (7, 1), 5, None)
    'cat occurs 7 times, tiger once; no sentence has both'
    """
    often = f"{w1} occurs {say_times(counts[0])}, {w2} {say_times(counts[1])}"
    if between is None:
        return f"{often}; no sentence has both"
    tokens = "1 token" if between == 1 else f"{between:,} tokens"
    return f"{often}; the closest have {tokens} between them (at most {window:,} are counted):"


def say_elsewhere(word: str, count: int, key: str, form_count: int) -> str:
    """That a word's form mostly is another lemma than the one looked up, and what to do; see `Elsewhere`.

    >>> say_elsewhere("saw", 24, "see", 2279)
    'saw is looked up as a lemma (24 times); the form saw mostly counts as see (2,279 times): look up see for these'
    """
    return (
        f"{word} is looked up as a lemma ({say_times(count)}); the form {word} mostly counts as {key} "
        f"({say_times(form_count)}): look up {key} for these"
    )


def say_counts(w1: str, w2: str, counts: Mapping[str, int]) -> str:
    """How often two words are seen, and how often together.

    >>> say_counts("leaf", "tree", {"n_w1": 2, "n_w2": 5, "n_plus": 1, "n_minus": 0})
    'leaf 2 times, tree 5 times; together once with leaf first, never with tree first'
    >>> say_counts("leaf", "car", {"n_w1": 2, "n_w2": 5, "n_plus": 0, "n_minus": 0})
    'leaf 2 times, car 5 times; never seen together'
    >>> say_counts("leaf", "leaf", {"n_w1": 2, "n_w2": 2, "n_plus": 1, "n_minus": 1})
    'leaf 2 times; with itself once'
    """
    one, two, plus, minus = (say_times(counts[name]) for name in ("n_w1", "n_w2", "n_plus", "n_minus"))
    if w1 == w2:  # both orders are the same co-occurrences
        return f"{w1} {one}; with itself {plus}"
    if not counts["n_plus"] + counts["n_minus"]:
        return f"{w1} {one}, {w2} {two}; never seen together"
    return f"{w1} {one}, {w2} {two}; together {plus} with {w1} first, {minus} with {w2} first"


def describe_block(name: str, w1: str = "w1", w2: str = "w2") -> str:
    """A block of features in words.

    >>> describe_block("v1", "lion", "cat"), describe_block("v1", "lion", "lion")
    ('lion alone', 'lion alone, as the first')
    """
    words = _BLOCKS.get(name, name).format(w1=w1, w2=w2)
    if w1 == w2 and name in ("v1", "v2"):
        words += ", as the first" if name.endswith("1") else ", as the second"
    return words
