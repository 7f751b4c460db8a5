"""Names in words: features, conditions, metrics, numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeGuard

from bagpack.names import COSINE, DIFFERENCE, PRODUCT, STATISTICS, parse_feature

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


class Metric(NamedTuple):
    """How a metric is called and written, and the bounds that no value of it can pass."""

    label: str
    percent: bool
    meaning: str
    least: float = -math.inf
    most: float = math.inf


def _share(label: str, meaning: str) -> Metric:
    return Metric(label, True, meaning, 0.0, 1.0)


def _correlation(label: str, meaning: str) -> Metric:
    return Metric(label, False, meaning, -1.0, 1.0)


METRICS = {
    "accuracy": _share("Accuracy", "share of rows with the right label"),
    "f1": _share("F1", "harmonic mean of precision and recall"),
    "f1_macro": _share("F1 macro", "mean of the labels' F1, every label counting the same"),
    "f1_weighted": _share("F1 weighted", "mean of the labels' F1, weighted by their rows"),
    "f1_macro_without": _share("F1 macro without", "mean F1 of the labels that are not excluded"),
    "f1_weighted_without": _share(
        "F1 weighted without", "mean F1 of the labels that are not excluded, weighted by their rows"
    ),
    "auc": _share("AUC", "chance that a row of the label outranks one without it"),
    "spearman": _correlation(
        "Spearman ρ", "mean rank correlation with the ratings within each group or fold"
    ),
    "spearman_pooled": _correlation(
        "ρ pooled", "rank correlation over the predictions of all folds together"
    ),
    "pearson": _correlation("Pearson r", "linear correlation of predictions with the ratings"),
    "mae": Metric("Mean error", False, "mean absolute difference from the rating", 0.0),
    "score": _share(
        "Worst-case score", "accuracy, an incomplete question counting as a random guess (1/choices)"
    ),
    "coverage": _share("Coverage", "share of questions all of whose pairs have a vector"),
    "complete_accuracy": _share("Accuracy, complete", "accuracy on the complete questions alone"),
}
_NAMED_WITHOUT = 3  # excluded labels that a metric's name can contain


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
    if block in (PRODUCT, DIFFERENCE):
        # Two contexts of two words: a pattern with all three would read as one phrase.
        where = _PLACES[segment]
        joint = "and" if block == PRODUCT else "more often than"
        place = f"{where} {w1} {joint} {where} {w2}"
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
    >>> say_evidence("v1−v2:pre:the", -3, "cat", "lion")
    '3× more with lion'
    """
    block = name.partition(":")[0]
    if block == PRODUCT:
        return f"{count:,}× with both"
    if block == COSINE:
        return f"{count:,} in common"
    if block == DIFFERENCE or name == "pair:order":
        if not count:
            return "as often with both" if block == DIFFERENCE else "as often either way"
        word = w1 if count > 0 else w2
        return f"{abs(count):,}× more with {word}{' first' if block == STATISTICS else ''}"
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


def show_probability(value: float | None) -> str:
    """A probability in whole percent, or nothing.

    >>> show_probability(0.414), show_probability(0.996), show_probability(0.002), show_probability(None)
    ('41 %', '> 99 %', '< 1 %', '')
    """
    if value is None:
        return ""
    if value > 0.99:
        return "> 99 %"
    return "< 1 %" if value < 0.01 else f"{100 * value:.0f} %"


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
    >>> say_nearest("cat", "tiger", (7, 1), 5, None)
    'cat occurs 7 times, tiger once; no sentence has both'
    """
    often = f"{w1} occurs {say_times(counts[0])}, {w2} {say_times(counts[1])}"
    if between is None:
        return f"{often}; no sentence has both"
    return f"{often}; the closest have {between:,} tokens between them (at most {window:,} are counted):"


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


def metric_info(name: str) -> Metric:
    """A metric's label and how it is written; one that is not known is written as a plain number."""
    return METRICS.get(name) or Metric(name.replace("_", " "), False, "")


def metric_label(name: str, left_out: Sequence[str] = (), unit: bool = True) -> str:
    """A metric as a column heading.

    >>> metric_label("auc"), metric_label("spearman"), metric_label("f1_macro_without", ["random"])
    ('AUC %', 'Spearman ρ', 'F1 macro without random %')
    """
    label = metric_info(name).label
    if name.endswith("_without") and left_out:
        named = len(left_out) <= _NAMED_WITHOUT
        label += " " + (", ".join(left_out) if named else f"{len(left_out)} labels")
    return label + (show_unit(name) if unit else "")


def is_number(value: object) -> TypeGuard[float]:
    """Whether there is a finite number to show."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def show_score(value: float | None, metric: str, signed: bool = False) -> str:
    """A score as it is written in tables: one decimal for percentages, three otherwise.

    >>> show_score(0.8431, "accuracy"), show_score(0.598, "spearman"), show_score(None, "auc")
    ('84.3', '0.598', '–')
    """
    if not is_number(value):
        return "–"
    sign = "+" if signed else ""
    text = f"{100 * value:{sign}.1f}" if metric_info(metric).percent else f"{value:{sign}.3f}"
    return (text.lstrip("+-") if float(text) == 0 else text).replace("-", "−")


def inside(low: float | None, high: float | None, metric: str) -> tuple[float, float] | None:
    """A score's interval, ending where the metric does, or None if there is none.

    Mean ± t·s/√k over few folds may reach past what a share or a correlation can be.
    """
    if not is_number(low) or not is_number(high):
        return None
    known = metric_info(metric)
    return max(low, known.least), min(high, known.most)


def show_interval(low: float | None, high: float | None, metric: str, between: str = " to ") -> str:
    """A score's interval as it is written below the score, or nothing.

    >>> show_interval(0.81, 0.8753, "accuracy"), show_interval(0.95, 1.02, "accuracy")
    ('81.0 to 87.5', '95.0 to 100.0')
    >>> show_interval(-1.872, 2.082, "spearman")
    '−1.000 to 1.000'
    """
    ends = inside(low, high, metric)
    return f"{show_score(ends[0], metric)}{between}{show_score(ends[1], metric)}" if ends else ""


def show_difference_interval(low: float | None, high: float | None, metric: str) -> str:
    """The interval of a difference between two scores: signed, and nowhere cut.

    >>> show_difference_interval(-0.246, -0.121, "accuracy"), show_difference_interval(-0.167, 0.021, "auc")
    ('−24.6 to −12.1', '−16.7 to +2.1')
    """
    if not is_number(low) or not is_number(high):
        return ""
    return f"{show_score(low, metric, signed=True)} to {show_score(high, metric, signed=True)}"


def show_unit(metric: str) -> str:
    """The unit that follows a metric's name in a table's head."""
    return " %" if metric_info(metric).percent else ""


def show_count(value: object) -> str:
    """A whole number with separators.

    >>> show_count(1234567)
    '1,234,567'
    """
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def show_share(part: int | None, whole: int | None) -> str:
    """A part of a whole in percent, or nothing where there is no whole."""
    if part is None or not whole:
        return ""
    share = 100 * part / whole
    return "< 0.1 %" if 0 < share < 0.05 else f"{share:.1f} %"


def show_p(value: float | None) -> str:
    """A p-value: three decimals, and below that only that it is."""
    if not is_number(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def show_value(value: object) -> str:
    """A setting as a person would write it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(show_value(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {show_value(item)}" for key, item in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
