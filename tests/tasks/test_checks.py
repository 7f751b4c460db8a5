"""What `bagpack check` reports of the rows themselves."""

from bagpack.tasks.checks import likely_mistakes
from bagpack.tasks.questions import read_any


def test_repeated_swapped_contradicting_and_equal_words(tmp_path):
    path = tmp_path / "data.tsv"
    rows = "oak tree kind|leaf tree part|Oak tree kind|leaf tree kind|tree oak Kind|owl Owl kind|wheel cart part|"
    path.write_text(f"w1 w2 label|{rows}".replace(" ", "\t").replace("|", "\n"))
    assert likely_mistakes(read_any(path)) == {
        "repeated_pairs": [{"pair": ["oak", "tree"], "lines": [2, 4]}],
        "swapped_pairs": [{"pair": ["oak", "tree"], "lines": [2, 4, 6]}],
        "pairs_with_several_labels": [
            {"pair": ["leaf", "tree"], "lines": [3, 5], "labels": ["part", "kind"]}
        ],
        "same_word_twice": [{"pair": ["owl", "Owl"], "lines": [7]}],
        "similar_labels": [{"kind": 4, "Kind": 1}],
    }
