"""What `bagpack check` reports of the rows themselves."""

from tests.contexts.stores import make_store

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


def test_a_pair_in_other_case_is_in_one_fold(tmp_path, cli):
    """A repeated pair in two folds would be trained and tested on: an unknown word is compared without case."""
    names = [f"word{i}" for i in range(20)]
    store = make_store(tmp_path, [[name, "runs", "home"] for name in names], (20,), "s.bp").path
    rows = [f"{name}\thome\t{'ab'[at % 2]}\n" for at, name in enumerate(names)]
    rows += [f"{row[0].upper()}{row[1:]}" for row in rows] + ["Wolf\thowl\ta\n", "wolf\thowl\ta\n"]
    (tmp_path / "d.tsv").write_text("w1\tw2\tlabel\n" + "".join(rows))
    table = tmp_path / "p.tsv"
    done = cli("evaluate", store, tmp_path / "d.tsv", "--folds", 5, "--predictions", table, "-j", 1, "-b", 5)
    assert done.code == 0, done.err
    header, *found = [line.split("\t") for line in table.read_text().splitlines()]
    folds = {}
    for row in found:
        folds.setdefault(row[header.index("w1")].lower(), set()).add(row[header.index("fold")])
    assert len(folds) == 21 and all(len(own) == 1 for own in folds.values())


def test_a_label_is_not_ignored_where_there_are_none(tmp_path, cli):
    store = make_store(tmp_path, [["leaf", "of", "tree"]], (1,), "s.bp").path
    (tmp_path / "d.tsv").write_text("w1\tw2\nleaf\ttree\n")
    said = cli("find", store, tmp_path / "d.tsv", "--label", "foo").sentence(2)
    assert "--label foo" in said and "d.tsv" in said and "add the column" in said
