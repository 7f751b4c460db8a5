import numpy as np
import pytest

from bagpack.errors import InputError, UsageError
from bagpack.tasks.pairs import Dataset, read_dataset
from bagpack.tasks.questions import QuestionSet, read_any

BOTH = "w1\tw2\tlabel\tscore\na\tb\tx\t1\n"


def write(tmp_path, text, name="data.tsv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def read(tmp_path):
    return lambda text, **how: read_dataset(write(tmp_path, text), **how)


def test_labels(read):
    data = read("word1\tpos1\tword2\tlabel\ncat\tn\tanimal\thyper\ncat\tn\ttail\tmero\n")
    assert (data.kind, data.pairs) == ("relations", [("cat", "animal"), ("cat", "tail")])
    assert (data.labels, data.columns["pos1"], data.lines) == (["hyper", "mero"], ["n", "n"], [2, 3])
    assert data.group_column is None and data.scores.size == 0
    again = read("w1\tw2\tlabel\na\tb\tx\nc\tc\ty\na\tb\ty\na\tb\tx\n")
    assert len(again) == 4 and again.labels == ["x", "y", "y", "x"], "a pair with two labels keeps its rows"
    # `relation` is the label when there is no other; else it divides the data set.
    data = read("relation\tword1\tword2\tweight\nIsA\tcat\tanimal\t3.5\n")
    assert (data.kind, data.labels, data.columns["weight"]) == ("relations", ["IsA"], ["3.5"])
    assert read("relation\tword1\tword2\tlabel\nR1\ta\tb\tt\nR2\ta\tb\tf\n").group_column == "relation"


def test_ratings_and_their_groups(read):
    data = read("relation\tpredicate\targument\trating\nnsubj\tsay\tman\t7.5\ndobj\tsay\tword\t9\n")
    assert (data.kind, data.pairs) == ("ratings", [("man", "say"), ("say", "word")])
    np.testing.assert_array_equal(data.scores, [7.5, 9.0])
    assert (data.group_column, data.labels) == ("relation", [])
    columns = {name: data.column(name) for name in ("predicate", "argument", "w1")}
    assert columns == {"predicate": ["say", "say"], "argument": ["man", "word"], "w1": ["man", "say"]}
    data = read("verb\tnoun\trole\trating\neat\tman\tA0\t6\neat\tcake\tA1\t7\nsee\tman\tA2\t1\n")
    assert data.pairs == [("man", "eat"), ("eat", "cake"), ("see", "man")]
    assert (data.group_column, data.column("role")) == ("verb", ["A0", "A1", "A2"])
    # Files that are joined have a group if both have it.
    pairs = read("w1\tw2\trating\ncat\tdog\t3\n")
    assert data.joined(data).group_column == "verb" and data.joined(pairs).group_column is None


def test_task_and_columns_decide(read):
    assert read(BOTH, task="relations").columns["score"] == ["1"]
    assert read(BOTH, task="ratings").scores.tolist() == [1.0]
    assert read(BOTH, columns={"label": "label"}).kind == "relations"
    assert read(BOTH, columns={"score": "score"}).kind == "ratings"
    rated = "relation\tw1\tw2\trating\nR\ta\tb\t2\n"
    assert read(rated).kind == "ratings"
    assert read(rated, task="relations").labels == ["R"]
    weighted = rated.replace("rating", "weight")
    assert read(weighted, columns={"score": "weight"}).scores.tolist() == [2.0]
    with pytest.raises(InputError, match="neither a label nor a score"):
        read(weighted, task="ratings")
    for rating in ("NaN", "-inf", "-1e300", "1_0", "3,5"):
        with pytest.raises(InputError, match=rf"data\.tsv:3: '{rating}' in column 'rating'"):
            read(f"w1\tw2\trating\na\tb\t1e12\na\tb\t{rating}\n")
    data = read("x\ty\tkind\na\tb\tR\n", columns={"w1": "x", "w2": "y", "label": "kind"})
    assert (data.pairs, data.labels) == ([("a", "b")], ["R"])
    with pytest.raises(UsageError, match="no column 'verb' to group by; it has x, y, kind"):
        data.column("verb")


def test_read_any_takes_what_there_is(tmp_path):
    assert isinstance(read_any(write(tmp_path, "w1\tw2\tlabel\na\tb\tx\n")), Dataset)
    assert read_any(write(tmp_path, "w1\tw2\na\tb\n")).kind == "pairs"
    assert read_any(write(tmp_path, BOTH)).kind == "pairs"
    assert read_any(write(tmp_path, BOTH), columns={"score": "score"}).kind == "ratings"
    question = '{"stem": "a", "choices": ["b", "c"], "answer": 0}\n'
    assert isinstance(read_any(write(tmp_path, question, "q.jsonl")), QuestionSet)
    with pytest.raises(InputError, match="no columns w1 and w2"):
        read_any(write(tmp_path, "just some prose\nof two lines\n", "q.txt"))
    named = read_any(write(tmp_path, "x\ty\tz\na\tb\tc\n"), columns={"w1": "x", "w2": "y", "label": "z"})
    assert named.labels == ["c"]
