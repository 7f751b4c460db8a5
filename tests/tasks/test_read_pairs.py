import bz2
import gzip
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bagpack.corpus.readers.files import zstd
from bagpack.errors import InputError, UsageError
from bagpack.tasks.pairs import distinct_words, normalise_target, read_pairs, unordered_pairs


def write(tmp_path, text, name="pairs.tsv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_words_stay_as_written_and_other_columns_are_kept(tmp_path):
    got = read_pairs(write(tmp_path, 'id\tw1\tw2\n1\t radiation_therapy \t"Shrinkage\n\n2\tx\ty"\n'))
    assert got.pairs == [("radiation_therapy", '"Shrinkage'), ("x", 'y"')]
    assert got.columns["id"] == ["1", "2"]
    assert got.lines == [2, 4]


def test_a_subject_stands_first_and_any_other_role_second(tmp_path):
    got = read_pairs(write(tmp_path, "verb\tnoun\trole\neat\tman\tA0\neat\tcake\tA1\neat\tfork\tAM-MNR\n"))
    assert got.pairs == [("man", "eat"), ("eat", "cake"), ("eat", "fork")]
    text = "relation\tpredicate\targument\nnsubj\tsay\tman\nnsubj_amod\tsay\told\ndobj\tsay\tword\n"
    got = read_pairs(write(tmp_path, text))
    assert got.pairs == [("man", "say"), ("old", "say"), ("say", "word")]
    got = read_pairs(write(tmp_path, "verb\tnoun\neat\tman\n"))
    assert got.pairs == [("eat", "man")]


def test_columns_may_be_named_and_then_their_order_is_the_order(tmp_path):
    path = write(tmp_path, "Verb\tNoun\tRole\neat\tman\tA0\n")
    assert read_pairs(path, columns={"w1": "Verb", "w2": "noun"}).pairs == [("eat", "man")]
    path = write(tmp_path, "left\tw2\neat\tman\n")
    assert read_pairs(path, columns={"w1": "left"}).pairs == [("eat", "man")]
    with pytest.raises(UsageError, match=r"no column 'nuon' \(found: left, w2\)"):
        read_pairs(path, columns={"w1": "nuon"})
    with pytest.raises(UsageError, match="'first' is not a column that can be named"):
        read_pairs(path, columns={"first": "left"})


PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd.compress}


@pytest.mark.parametrize("suffix", PACKED)
def test_compressed(tmp_path, suffix):
    data = PACKED[suffix](b"w1\tw2\ncat\tlion\n")
    assert read_pairs(write(tmp_path, data, f"pairs.tsv{suffix}")).pairs == [("cat", "lion")]
    for damaged in (data[:-3], b"w1\tw2\ncat\tlion\n"):
        with pytest.raises(InputError, match=r"is not a whole \w+ file"):
            read_pairs(write(tmp_path, damaged, f"pairs.tsv{suffix}"))
    if suffix == ".zst":  # a few bytes that hold gigabytes; of the others, gzip is among the forty bad files
        with pytest.raises(InputError, match="unpacks to more than 256 MB"):
            read_pairs(write(tmp_path, zstd.compress(b"w1\tw2\n" * (1 << 17)) * 400, "pairs.tsv.zst"))


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
    assert normalise_target("radiation_therapy") == "radiation therapy"
    assert normalise_target("ice  cream") == "ice cream"
    assert normalise_target("_") == "_"
    assert distinct_words([("a", "b"), ("b", "a"), ("c", "a")]) == ["a", "b", "c"]
    assert unordered_pairs([("b", "a"), ("a", "b"), ("a", "a")]) == [("b", "a"), ("a", "a")]
