import bz2
import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bagpack.corpus.readers.files import zstd
from bagpack.errors import InputError, UsageError
from bagpack.tasks.checks import likely_mistakes
from bagpack.tasks.pairs import (
    Dataset,
    normalise_target,
    read_dataset,
    read_pairs,
)
from bagpack.tasks.questions import QuestionSet, read_any


def test_words_stay_as_written_and_other_columns_are_kept(write):
    got = read_pairs(write("p.tsv", 'id\tw1\tw2\n1\t radiation_therapy \t"Shrinkage\n\n2\tx\ty"\n'))
    assert got.pairs == [("radiation_therapy", '"Shrinkage'), ("x", 'y"')]
    assert got.columns["id"] == ["1", "2"]
    assert got.lines == [2, 4]


ROLES = {
    "verb\tnoun\trole\neat\tman\tA0\neat\tcake\tA1\neat\tfork\tAM-MNR\n": "man eat, eat cake, eat fork",
    "relation\tpredicate\targument\nnsubj\tsay\tman\nnsubj_amod\tsay\told\ndobj\tsay\tword\n":
        "man say, old say, say word",
    "verb\tnoun\neat\tman\n": "eat man",
}  # fmt: skip


@pytest.mark.parametrize("text", ROLES)
def test_a_subject_stands_first_and_any_other_role_second(write, text):
    got = read_pairs(write("p.tsv", text))
    assert got.pairs == [tuple(pair.split()) for pair in ROLES[text].split(", ")]


def test_columns_may_be_named_and_then_their_order_is_the_order(write):
    path = write("p.tsv", "Verb\tNoun\tRole\neat\tman\tA0\n")
    assert read_pairs(path, columns={"w1": "Verb", "w2": "noun"}).pairs == [("eat", "man")]
    path = write("p.tsv", "left\tw2\neat\tman\n")
    assert read_pairs(path, columns={"w1": "left"}).pairs == [("eat", "man")]
    for wrong in ({"w1": "nuon"}, {"first": "left"}):
        with pytest.raises(UsageError, match=r"'nuon'.*: left, w2|'first'"):
            read_pairs(path, columns=wrong)


PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd.compress}


@pytest.mark.parametrize("suffix", PACKED)
def test_compressed(write, suffix):
    name, data = f"pairs.tsv{suffix}", PACKED[suffix](b"w1\tw2\ncat\tlion\n")
    assert read_pairs(write(name, data)).pairs == [("cat", "lion")]
    for damaged in (data[:-3], b"w1\tw2\ncat\tlion\n"):
        with pytest.raises(InputError, match=rf"pairs\.tsv{suffix} .*whole"):
            read_pairs(write(name, damaged))
    if suffix == ".zst":  # a few bytes that hold gigabytes; of the others, gzip is among the forty bad files
        with pytest.raises(InputError, match="256 MB"):
            read_pairs(write(name, zstd.compress(b"w1\tw2\n" * (1 << 17)) * 400))


WORD = st.text(st.characters(exclude_characters="\t\r\n\0", exclude_categories=["Cs"]), min_size=1).filter(
    lambda word: word.strip() and not word.strip().startswith("#")  # as errors of spreadsheets do
)


@given(st.lists(st.tuples(WORD, WORD), min_size=1), st.sampled_from(["\n", "\r\n"]))
def test_any_pairs_survive_the_round_trip(tmp_path_factory, pairs, newline):
    path = tmp_path_factory.mktemp("round") / "pairs.tsv"
    path.write_bytes(newline.join(["w1\tw2", *("\t".join(pair) for pair in pairs)]).encode())
    got = read_pairs(path)
    assert got.pairs == [(a.strip(), b.strip()) for a, b in pairs]
    assert got.lines == list(range(2, len(pairs) + 2))


def test_word_helpers():
    for word, normal in (("radiation_therapy", "radiation therapy"), ("ice  cream", "ice cream"), ("_", "_")):
        assert normalise_target(word) == normal


# With labels or ratings -----------------------------------------------------------------------------------------------


BOTH = "w1\tw2\tlabel\tscore\na\tb\tx\t1\n"


@pytest.fixture
def read(write):
    return lambda text, **how: read_dataset(write("data.tsv", text), **how)


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
    with pytest.raises(InputError, match=r"neither .*--columns score=NAME"):
        read(weighted, task="ratings")
    for rating in ("NaN", "-inf", "-1.1e12", "1_0", "3,5"):
        with pytest.raises(InputError, match=rf"data\.tsv:3: '{rating}' in column 'rating'"):
            read(f"w1\tw2\trating\na\tb\t1e12\na\tb\t{rating}\n")
    data = read("x\ty\tkind\na\tb\tR\n", columns={"w1": "x", "w2": "y", "label": "kind"})
    assert (data.pairs, data.labels) == ([("a", "b")], ["R"])
    with pytest.raises(UsageError, match=r"'verb' .* x, y, kind"):
        data.column("verb")


def test_read_any_takes_what_there_is(write):
    assert isinstance(read_any(write("any.tsv", "w1\tw2\tlabel\na\tb\tx\n")), Dataset)
    for text in ("w1\tw2\na\tb\n", BOTH):
        assert read_any(write("any.tsv", text)).kind == "pairs"
    assert read_any(write("any.tsv", BOTH), columns={"score": "score"}).kind == "ratings"
    question = '{"stem": "a", "choices": ["b", "c"], "answer": 0}\n'
    assert isinstance(read_any(write("q.jsonl", question)), QuestionSet)
    with pytest.raises(InputError, match="w1 and w2"):
        read_any(write("q.txt", "just some prose\nof two lines\n"))
    named = read_any(write("any.tsv", "x\ty\tz\na\tb\tc\n"), columns={"w1": "x", "w2": "y", "label": "z"})
    assert named.labels == ["c"]


def test_repeated_swapped_contradicting_and_equal_words(write):
    rows = "oak tree kind|leaf tree part|Oak tree kind|leaf tree kind|tree oak Kind|owl Owl kind|wheel cart part|"
    path = write("data.tsv", f"w1 w2 label|{rows}".replace(" ", "\t").replace("|", "\n"))
    assert likely_mistakes(read_any(path)) == {
        "repeated_pairs": [{"pair": ["oak", "tree"], "lines": [2, 4]}],
        "swapped_pairs": [{"pair": ["oak", "tree"], "lines": [2, 4, 6]}],
        "pairs_with_several_labels": [{"pair": ["leaf", "tree"], "lines": [3, 5], "labels": ["part", "kind"]}],
        "same_word_twice": [{"pair": ["owl", "Owl"], "lines": [7]}], "similar_labels": [{"kind": 4, "Kind": 1}],
    }  # fmt: skip
