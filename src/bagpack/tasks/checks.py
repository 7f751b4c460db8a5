"""Likely mistakes in a data set: repeated and swapped pairs, a word paired with itself, contradicting labels.

None of them is an error: a pair may well have two labels. So they are reported, and nothing is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bagpack.errors import InputError
from bagpack.tasks.files import TextFile
from bagpack.tasks.pairs import Dataset, Pair, read_dataset

FOLDS = 10  # of an evaluation, by default


def likely_mistakes(listed: Dataset) -> dict[str, Any]:
    """Repeated pairs, pairs in both orders, pairs with several labels, a word paired with itself; similar labels.

    Pairs come with their lines in the file. Words that differ only in case are the same word.
    """
    rows: dict[Pair, list[int]] = {}
    for row, pair in enumerate(listed.pairs):
        rows.setdefault(_folded(pair), []).append(row)
    labels = listed.labels

    def entry(of_pair: Sequence[int], **more: Any) -> dict[str, Any]:
        """The pair as it is first written, and its lines."""
        lines = sorted(listed.lines[row] for row in of_pair)
        return {"pair": list(listed.pairs[of_pair[0]]), "lines": lines, **more}

    repeated, several, same, swapped = [], [], [], []
    for pair, own in rows.items():
        named = [labels[row] for row in own] if labels else []
        if len(set(named)) > 1:
            several.append(entry(own, labels=named))
        elif len(own) > 1:
            repeated.append(entry(own))
        other = rows.get(pair[::-1], [])
        if pair[0] == pair[1]:
            same.append(entry(own))
        elif other and own[0] < other[0]:
            swapped.append(entry([*own, *other]))
    return {
        "repeated_pairs": repeated,
        "swapped_pairs": swapped,
        "pairs_with_several_labels": several,
        "same_word_twice": same,
        "similar_labels": similar_labels(labels),
    }


def _folded(pair: Pair) -> Pair:
    return pair[0].casefold(), pair[1].casefold()


def similar_labels(labels: Sequence[str]) -> list[dict[str, int]]:
    """Labels that differ only in case, spaces, underscores or hyphens, with their rows; the most frequent first.

    >>> similar_labels(["part of", "Part-of", "part of", "is a"])
    [{'part of': 2, 'Part-of': 1}]
    """
    groups: dict[str, Counter[str]] = {}
    for label, count in Counter(labels).items():
        same = re.sub(r"[\s_-]+", "", label.casefold())
        groups.setdefault(same, Counter())[label] = count
    return [dict(group.most_common()) for group in groups.values() if len(group) > 1]


def similar_labels_sentence(group: Mapping[str, int]) -> str:
    """What to do about similar labels, given their rows."""
    most, *others = group
    named = ", ".join(f"{label!r} ({rows:,} row{'s' if rows > 1 else ''})" for label, rows in group.items())
    replaced = " and ".join(map(repr, others))
    return (
        f"labels that differ only in case, spaces or hyphens: {named}; if they are one label, replace {replaced} by "
        f"{most!r}"
    )


def too_few_pairs(pairs: int, folds: int) -> str:
    """What to do about fewer distinct rated pairs than folds."""
    if pairs < 2:
        return "there is only one pair; cross-validation needs at least two"
    return f"there are {pairs} pairs, fewer than the {folds} folds; use --folds {pairs}"


def too_few_of_label(label: str, pairs: int, folds: int, labels: Sequence[str]) -> str:
    """What to do about a label on fewer distinct pairs than folds; ``labels`` are those of all rows."""
    problem = f"the label {label!r} has {pairs} pair{'s' if pairs > 1 else ''}, fewer than the {folds} folds"
    for group in similar_labels(labels):
        if label in group:
            return f"{problem}; there are {similar_labels_sentence(group)}"
    fewer = f", or take fewer folds (--folds {pairs})" if pairs > 1 else ""
    return f"{problem}; remove its rows{fewer}"


def equal_ratings(rating: float) -> str:
    """What to do about ratings that are all equal."""
    return f"every pair has the rating {rating:g}; at least two different ratings are needed"


def why_not_evaluated(file: TextFile, listed: Dataset, columns: Mapping[str, str] | None = None) -> str:
    """Why `bagpack evaluate` without further options would refuse a data set; nothing if it accepts it."""
    if listed.kind == "pairs":
        try:
            listed = read_dataset(file, columns=columns)
        except InputError as error:
            return str(error)
    if listed.kind != "relations":
        if listed.scores.min() == listed.scores.max():
            return equal_ratings(listed.scores[0])
        pairs = len({tuple(sorted(_folded(pair))) for pair in listed.pairs})
        return too_few_pairs(pairs, FOLDS) if pairs < FOLDS else ""
    if len(listed.label_counts) == 1:
        return f"every pair has the label {listed.labels[0]!r}; at least two labels are needed"
    # Folds divide distinct pairs: a repeated pair, in either order, is in one fold.
    rows = zip(listed.labels, listed.pairs, strict=True)
    distinct = {(label, *sorted(_folded(pair))) for label, pair in rows}
    sizes = Counter(label for label, *_ in distinct)
    label, size = min(sorted(sizes.items()), key=lambda item: item[1])
    return "" if size >= FOLDS else too_few_of_label(label, size, FOLDS, listed.labels)
