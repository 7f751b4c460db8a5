"""Likely mistakes in a data set: repeated and swapped pairs, a word paired with itself, contradicting labels.

None of them is an error: a pair may well have two labels. So they are reported, and nothing is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bagpack.numbers import many
from bagpack.tasks.pairs import Dataset, Pair


def likely_mistakes(listed: Dataset) -> dict[str, Any]:
    """Repeated pairs, pairs in both orders, pairs with several labels, a word paired with itself; similar labels.

    Pairs come with their lines in the file. Words that differ only in case are the same word.
    """
    rows: dict[Pair, list[int]] = {}
    for row, pair in enumerate(listed.pairs):
        rows.setdefault((pair[0].casefold(), pair[1].casefold()), []).append(row)

    def entry(of_pair: Sequence[int], **more: Any) -> dict[str, Any]:
        """The pair as it is first written, and its lines."""
        lines = sorted(listed.lines[row] for row in of_pair)
        return {"pair": list(listed.pairs[of_pair[0]]), "lines": lines, **more}

    repeated, several, same, swapped = [], [], [], []
    for pair, own in rows.items():
        named = [listed.labels[row] for row in own] if listed.labels else []
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
        "similar_labels": similar_labels(listed.labels),
    }


def similar_labels(labels: Sequence[str]) -> list[dict[str, int]]:
    """Labels that differ only in case, spaces, underscores or hyphens, with their rows; the most frequent first."""
    groups: dict[str, Counter[str]] = {}
    for label, count in Counter(labels).items():
        same = re.sub(r"[\s_-]+", "", label.casefold())
        groups.setdefault(same, Counter())[label] = count
    return [dict(group.most_common()) for group in groups.values() if len(group) > 1]


def similar_labels_sentence(group: Mapping[str, int]) -> str:
    """What to do about similar labels, given their rows."""
    most, *others = group
    named = ", ".join(f"{label!r} ({many(rows, 'row')})" for label, rows in group.items())
    fix = f"if they are one label, replace {' and '.join(map(repr, others))} by {most!r}"
    return f"labels that differ only in case, spaces or hyphens: {named}; {fix}"
