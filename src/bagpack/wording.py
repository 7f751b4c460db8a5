"""Features, conditions and counts in words."""

from __future__ import annotations

from collections.abc import Mapping
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
    "cosine": "how similar",
    "pair": "how often together",
}


class FeatureSaid(NamedTuple):
    """A feature as it is shown: the pattern first, since a term alone would run into the sentence."""

    pattern: str
    place: str  # position of the term; empty if the pattern is a sentence


def say_feature(name: str, w1: str = "w1", w2: str = "w2") -> FeatureSaid:
    """A feature's pattern and its place; statistics have words instead, and a name that is not ours is kept.

    >>> say_feature("v12:+betw:of", "leaf", "tree")
    FeatureSaid(pattern='leaf … of … tree', place='between, leaf first')
    >>> say_feature("v1·v2:post:species", "feather", "bird").pattern
    '“species” occurs after feather and after bird'
    """
    feature = parse_feature(name)
    if feature is None or not feature.term:
        return FeatureSaid(_STATISTICS[name].format(w1=w1, w2=w2) if name in _STATISTICS else name, "")
    block, segment, term = feature
    where = _PLACES[segment.lstrip("+-")]
    if block == PRODUCT:
        # Two contexts of two words: a pattern with all three would read as one phrase.
        return FeatureSaid(f"“{term}” occurs {where} {w1} and {where} {w2}", "")
    if block != "v12":
        parts, place = [w1 if block == "v1" else w2], f"{where} {w1 if block == 'v1' else w2}"
    else:
        parts = [w1, w2] if segment[0] == "+" else [w2, w1]
        place = f"{where}, {parts[0]} first"
    parts.insert({"before": 0, "between": 1, "after": 2}[where], term)
    return FeatureSaid(" … ".join(parts), place)


def say_evidence(name: str, count: int, w1: str = "w1", w2: str = "w2") -> str:
    """How often a feature was counted, and what the number means where it is not that of its lines."""
    if name == "pair:order":
        more = f"{abs(count):,}× more with {w1 if count > 0 else w2} first"
        return more if count else "as often either way"
    kind = {PRODUCT: "× with both", COSINE: " in common"}.get(name.partition(":")[0], "×")
    return f"{count:,}{kind}"


def first_words(text: str, most: int) -> str:
    """The beginning of a text, at most ``most`` characters of it, cut between words."""
    return text if len(text.strip()) <= most else f"{text[:most].rpartition(' ')[0]} …"


def last_words(text: str, most: int) -> str:
    """The end of a text, at most ``most`` characters of it, cut between words."""
    return text if len(text.strip()) <= most else f"… {text[len(text) - most :].partition(' ')[2]}"


def say_times(count: int) -> str:
    """How often, in words: never, once, 1,200 times."""
    return "once" if count == 1 else f"{count:,} times" if count else "never"


def say_counts(w1: str, w2: str, counts: Mapping[str, int]) -> str:
    """How often two words are seen, and how often together.

    >>> say_counts("leaf", "tree", {"n_w1": 2, "n_w2": 5, "n_plus": 1, "n_minus": 0})
    'leaf 2 times, tree 5 times; together once with leaf first, never with tree first'
    """
    one, two, plus, minus = (say_times(counts[name]) for name in ("n_w1", "n_w2", "n_plus", "n_minus"))
    if w1 == w2:  # both orders are the same co-occurrences
        return f"{w1} {one}; with itself {plus}"
    if not counts["n_plus"] + counts["n_minus"]:
        return f"{w1} {one}, {w2} {two}; never seen together"
    return f"{w1} {one}, {w2} {two}; together {plus} with {w1} first, {minus} with {w2} first"


def describe_block(name: str, w1: str = "w1", w2: str = "w2") -> str:
    """A block of features in words: of v1, `lion alone`."""
    words = _BLOCKS.get(name, name).format(w1=w1, w2=w2)
    if w1 == w2 and name in ("v1", "v2"):
        words += ", as the first" if name == "v1" else ", as the second"
    return words
