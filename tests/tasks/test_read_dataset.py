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
    assert len(data) == 4
    assert data.is_multilabel


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
    assert not data.is_multilabel


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
    with pytest.raises(UsageError, match="task 'regression' is unknown"):
        read_dataset(path, task="regression")

    path = write(tmp_path, "relation\tw1\tw2\trating\nR\ta\tb\t2\n")
    assert read_dataset(path).kind == "ratings"
    assert read_dataset(path, task="relations").labels == ["R"]

    path = write(tmp_path, "relation\tw1\tw2\tweight\nR\ta\tb\t2\n")
    assert read_dataset(path, columns={"score": "weight"}).scores.tolist() == [2.0]
    with pytest.raises(InputError, match=r"no score or rating column .* --columns score=NAME"):
        read_dataset(path, task="ratings")

    path = write(tmp_path, "x\ty\tkind\na\tb\tR\n")
    data = read_dataset(path, columns={"w1": "x", "w2": "y", "label": "kind"})
    assert (data.pairs, data.labels) == ([("a", "b")], ["R"])


BAD = {
    "neither": ("w1\tw2\tnote\na\tb\tc\n", "neither a label nor a score column"),
    "two scores": ("w1\tw2\tscore\trating\na\tb\t1\t2\n", "both a score and a rating column"),
    "empty label": ("w1\tw2\tlabel\na\tb\tx\na\tc\t\n", r"data\.tsv:3: the label in column 'label' is empty"),
    "word for number": (
        "w1\tw2\tscore\na\tb\thigh\n",
        r"data\.tsv:2: 'high' in column 'score' is not a finite",
    ),
    "nan": (
        "w1\tw2\trating\na\tb\t1\na\tb\tNaN\n",
        r"data\.tsv:3: 'NaN' in column 'rating' is not a finite number",
    ),
    "infinite": ("w1\tw2\trating\na\tb\t-inf\n", r"data\.tsv:2: '-inf'"),
    "too large": (
        "w1\tw2\trating\na\tb\t1e12\na\tc\t-1e300\n",
        r"data\.tsv:3: '-1e300' in column 'rating' is beyond ±1,000,000,000,000; divide all ratings",
    ),
    "underscore": ("w1\tw2\trating\na\tb\t1_0\n", r"data\.tsv:2: '1_0'"),
    "decimal comma": ("w1\tw2\trating\na\tb\t3,5\n", r"data\.tsv:2: '3,5' .* decimal point"),
    "no number": ("w1\tw2\trating\na\tb\t\n", r"data\.tsv:2: column 'rating' is empty"),
    "no pair columns": ("a\tb\tlabel\nx\ty\tz\n", r"no columns w1 and w2 \(found: a, b, label\)"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(tmp_path, case):
    text, message = BAD[case]
    with pytest.raises(InputError, match=message):
        read_dataset(write(tmp_path, text))


def test_asking_for_what_is_not_there(tmp_path):
    data = read_dataset(write(tmp_path, "w1\tw2\tscore\na\tb\t1\n"))
    with pytest.raises(UsageError, match="no column 'verb' to group by; it has w1, w2, score"):
        data.column("verb")
    with pytest.raises(InputError, match="no label column"):
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
