"""Which features are one reason."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bagpack.explain import reasons
from bagpack.explain.reasons import cluster_terms, group_features

PLACES = ["v1:pre", "v1:post", "v2:pre", "v2:post", "v1·v2:pre", "v12:+pre", "v12:+betw", "v12:+post", "v12:-betw",
          "pair:PMI", "pair:order", "cosine:v1 v2"]  # fmt: skip


def grouped(*features):
    """Groups of (place, term, count), as sets of `place term`, with their kinds."""
    terms = list(dict.fromkeys(term for _, term, _ in features if term))
    numbers = [(PLACES.index(at), terms.index(term) if term else -1, count) for at, term, count in features]
    found = group_features(PLACES, *np.array(numbers).T, terms)
    return {frozenset(f"{features[i][0]} {features[i][1]}".strip() for i in g.members): g.kind for g in found}


@pytest.mark.parametrize(
    ("counts", "clusters"),
    [
        ({"of": 5, "the": 9, "of the": 2}, ["of+of the", "the"]),
        ({"such": 3, "as": 3, "such as": 3}, ["such+as+such as"]),
        ({"such": 3, "as": 30, "such as": 3}, ["such+such as", "as"]),
        # A phrase that occurred once is one reason; a word of two phrases joins neither.
        ({"is": 1, "the": 1, "only": 1, "is the": 1, "the only": 1}, ["is+the+only+is the+the only"]),
        ({"a": 2, "as": 1, "have": 1, "as a": 1, "have a": 1}, ["a", "as+as a", "have+have a"]),
        # The bigram goes with its word, not with the comma, however often that is.
        ({",": 4, "and": 9, ", and": 2}, [",", "and+, and"]),
        ({",": 1, "old": 1, "the": 6, "old ,": 1, ", the": 1}, [",", "old+old ,", "the+, the"]),
        ({"of the": 2}, ["of the"]),
    ],
)
def test_nested_and_overlapping_terms(counts, clusters):
    assert [set(cluster) for cluster in cluster_terms(counts)] == [set(c.split("+")) for c in clusters]


def test_the_same_term_on_both_sides_is_one_reason():
    sides = [("v1:post", "of", 3), ("v2:pre", "of", 9), ("v1·v2:pre", "of", 3), ("v2:pre", "of the", 4)]
    around = [("v12:+pre", "of", 1), ("v12:+post", "of", 2)]
    between = [("v12:+betw", "of", 3), ("v12:-betw", "of", 1)]
    assert set(grouped(*sides, *around, *between)) == {
        frozenset(["v1:post of", "v2:pre of", "v1·v2:pre of", "v2:pre of the"]),
        frozenset(["v12:+pre of", "v12:+post of"]),
        frozenset(["v12:+betw of"]),
        frozenset(["v12:-betw of"]),
    }


def test_kinds():
    found = grouped(
        ("v1:pre", ",", 3), ("v1:pre", "red", 3), ("v1:pre", ", red", 1), ("v12:+betw", ".", 1),
        ("pair:PMI", "", 4), ("pair:order", "", -1), ("cosine:v1 v2", "", 7),
    )  # fmt: skip
    assert {"|".join(sorted(members)): kind for members, kind in found.items()} == {
        "v1:pre ,": reasons.PUNCTUATION, "v12:+betw .": reasons.PUNCTUATION, "v1:pre , red|v1:pre red": reasons.CONTEXT,
        "pair:PMI|pair:order": reasons.FREQUENCY, "cosine:v1 v2": reasons.SIMILARITY,
    }  # fmt: skip


TERM = st.sampled_from(["a", "b", "c", ",", "a b", "b c", "c a", "a ,", ", ,"])
PLACED = st.tuples(st.sampled_from(PLACES[:-2]), TERM)


@given(st.dictionaries(PLACED, st.integers(-3, 9), min_size=1, max_size=40))
def test_every_feature_is_in_one_group(features):
    rows = [(place, term, count) for (place, term), count in features.items()]
    members = Counter(name for group in grouped(*rows) for name in group)
    assert members == Counter(f"{place} {term}" for place, term, _ in rows)
