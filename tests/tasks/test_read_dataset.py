import numpy as np
import pytest

from bagpack.errors import InputError, UsageError
from bagpack.tasks import Dataset, QuestionSet, read_any, read_dataset


def write(tmp_path, text, name="data.tsv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_labels(tmp_path):
    data = read_dataset(
        write(tmp_path, "word1\tpos1\tword2\tlabel\ncat\tn\tanimal\thyper\ncat\tn\ttail\tmero\n")
    )
    assert data.kind == "relations"
    assert data.pairs == [("cat", "animal"), ("cat", "tail")]
    assert data.labels == ["hyper", "mero"]
    assert data.columns["pos1"] == ["n", "n"]
    assert data.group_column is None
    assert data.lines == [2, 3]
    assert data.scores.size == 0


def test_a_pair_with_two_labels_keeps_its_rows(tmp_path):
    data = read_dataset(write(tmp_path, "w1\tw2\tlabel\na\tb\tx\nc\tc\ty\na\tb\ty\na\tb\tx\n"))
    assert len(data) == 4 and data.labels == ["x", "y", "y", "x"]


def test_relation_is_the_label_when_there_is_no_other(tmp_path):
    data = read_dataset(write(tmp_path, "relation\tword1\tword2\tweight\nIsA\tcat\tanimal\t3.5\n"))
    assert (data.kind, data.labels, data.columns["weight"]) == ("relations", ["IsA"], ["3.5"])


def test_relation_divides_a_set_that_has_labels(tmp_path):
    data = read_dataset(
        write(tmp_path, "relation\tword1\tword2\tlabel\nR1\ta\tb\ttrue\nR2\ta\tb\tfalse\nR1\tc\td\tfalse\n")
    )
    assert data.group_column == "relation"


def test_ratings_with_relation_as_group(tmp_path):
    data = read_dataset(
        write(tmp_path, "relation\tpredicate\targument\trating\nnsubj\tsay\tman\t7.5\ndobj\tsay\tword\t9\n")
    )
    assert data.kind == "ratings"
    assert data.pairs == [("man", "say"), ("say", "word")]
    np.testing.assert_array_equal(data.scores, [7.5, 9.0])
    assert data.group_column == "relation"
    assert data.column("predicate") == ["say", "say"]
    assert data.column("argument") == ["man", "word"]
    assert data.column("w1") == ["man", "say"]
    assert data.labels == []


def test_plausibility_ratings_group_by_verb(tmp_path):
    data = read_dataset(
        write(tmp_path, "verb\tnoun\trole\trating\neat\tman\tA0\t6\neat\tcake\tA1\t7\nsee\tman\tA2\t1\n")
    )
    assert data.pairs == [("man", "eat"), ("eat", "cake"), ("see", "man")]
    assert data.group_column == "verb"
    assert data.column("role") == ["A0", "A1", "A2"]


def test_task_and_columns_decide(tmp_path):
    path = write(tmp_path, "w1\tw2\tlabel\tscore\na\tb\tx\t1\n")
    with pytest.raises(
        InputError, match=r"both a label .* and a score .* --columns label=label or --columns score=score"
    ):
        read_dataset(path)
    assert read_dataset(path, task="relations").columns["score"] == ["1"]
    assert read_dataset(path, task="ratings").scores.tolist() == [1.0]
    assert read_dataset(path, columns={"label": "label"}).kind == "relations"
    assert read_dataset(path, columns={"score": "score"}).kind == "ratings"

    path = write(tmp_path, "relation\tw1\tw2\trating\nR\ta\tb\t2\n")
    assert read_dataset(path).kind == "ratings"
    assert read_dataset(path, task="relations").labels == ["R"]

    path = write(tmp_path, "relation\tw1\tw2\tweight\nR\ta\tb\t2\n")
    assert read_dataset(path, columns={"score": "weight"}).scores.tolist() == [2.0]
    with pytest.raises(InputError, match=r"neither a label nor a score .* --columns score=NAME"):
        read_dataset(path, task="ratings")

    path = write(tmp_path, "x\ty\tkind\na\tb\tR\n")
    data = read_dataset(path, columns={"w1": "x", "w2": "y", "label": "kind"})
    assert (data.pairs, data.labels) == ([("a", "b")], ["R"])


@pytest.mark.parametrize("rating", ["NaN", "-inf", "-1e300", "1_0", "3,5"])
def test_bad_ratings(tmp_path, rating):
    with pytest.raises(
        InputError, match=rf"data\.tsv:3: '{rating}' in column 'rating' is not a number up to"
    ):
        read_dataset(write(tmp_path, f"w1\tw2\trating\na\tb\t1e12\na\tb\t{rating}\n"))


def test_asking_for_what_is_not_there(tmp_path):
    data = read_dataset(write(tmp_path, "w1\tw2\tscore\na\tb\t1\n"))
    with pytest.raises(UsageError, match="no column 'verb' to group by; it has w1, w2, score"):
        data.column("verb")
    with pytest.raises(InputError, match="neither a label"):
        read_dataset(write(tmp_path, "w1\tw2\tscore\na\tb\t1\n"), task="relations")


def test_read_any_takes_what_there_is(tmp_path):
    assert isinstance(read_any(write(tmp_path, "w1\tw2\tlabel\na\tb\tx\n")), Dataset)
    bare = read_any(write(tmp_path, "w1\tw2\na\tb\n"))
    assert bare.kind == "pairs"
    both = read_any(write(tmp_path, "w1\tw2\tlabel\tscore\na\tb\tx\t1\n"))
    assert both.kind == "pairs"
    text = "w1\tw2\tlabel\tscore\na\tb\tx\t1\n"
    assert read_any(write(tmp_path, text), columns={"score": "score"}).kind == "ratings"
    question = '{"stem": "a", "choices": ["b", "c"], "answer": 0}\n'
    assert isinstance(read_any(write(tmp_path, question, "q.jsonl")), QuestionSet)
    with pytest.raises(InputError, match="no columns w1 and w2"):
        read_any(write(tmp_path, "just some prose\nof two lines\n", "q.txt"))
    named = read_any(write(tmp_path, "x\ty\tz\na\tb\tc\n"), columns={"w1": "x", "w2": "y", "label": "z"})
    assert isinstance(named, Dataset)
    assert named.labels == ["c"]


def test_files_that_are_joined_have_a_group_if_both_have_it(tmp_path):
    verbs = read_dataset(write(tmp_path, "verb\tnoun\trating\neat\tapple\t5\ndrink\ttea\t6\n"))
    pairs = read_dataset(write(tmp_path, "w1\tw2\trating\ncat\tdog\t3\n"))
    assert verbs.group_column == verbs.joined(verbs).group_column == "verb"
    assert verbs.joined(pairs).group_column is None
