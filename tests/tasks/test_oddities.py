"""What `bagpack check` reports of the rows themselves."""

from bagpack.tasks import read_any
from bagpack.tasks.oddities import oddities


def test_repeated_swapped_contradicting_and_equal_words(tmp_path):
    path = tmp_path / "data.tsv"
    rows = [
        ("oak", "tree", "kind"),
        ("leaf", "tree", "part"),
        ("oak", "tree", "kind"),  # repeated
        ("leaf", "tree", "kind"),  # with another label
        ("tree", "oak", "Kind"),  # the other way round
        ("owl", "Owl", "kind"),
        ("wheel", "cart", "part"),
    ]
    path.write_text("w1\tw2\tlabel\n" + "".join("\t".join(row) + "\n" for row in rows))
    assert oddities(read_any(path)) == {
        "repeated_pairs": [{"pair": ["oak", "tree"], "lines": [2, 4]}],
        "swapped_pairs": [{"pair": ["oak", "tree"], "lines": [2, 4, 6]}],
        "pairs_with_several_labels": [
            {"pair": ["leaf", "tree"], "lines": [3, 5], "labels": ["part", "kind"]}
        ],
        "same_word_twice": [{"pair": ["owl", "Owl"], "lines": [7]}],
        "similar_labels": [{"kind": 4, "Kind": 1}],
    }
