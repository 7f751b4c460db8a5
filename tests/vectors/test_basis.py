"""A basis as TSV: written, read, edited by hand, refused where it does not belong."""

import pytest

from bagpack import Basis
from bagpack.errors import BagpackError, StoreError
from tests.contexts.stores import make_store


def test_written_and_read_it_is_the_same(corpus, tmp_path):
    basis = Basis.of(corpus, 5)
    basis.save(tmp_path / "basis.tsv")
    again = Basis.open(tmp_path / "basis.tsv")
    counts = basis.unigram_counts, basis.bigram_counts
    assert (again, again.unigram_counts, again.bigram_counts) == (basis, *counts)
    again.check_corpus(corpus, "basis.tsv")
    assert basis.to_tsv().splitlines()[:3] == ["kind\tterm\tcount", "unigram\t.\t18", "unigram\tcat\t18"]


def test_written_by_hand_without_counts_header_or_corpus(corpus):
    basis = Basis.from_tsv("unigram\tonly\r\nbigram\tlive in\n\n# mine\n")
    assert basis.terms == ["only", "live in"]
    assert basis.corpus_hash == ""
    basis.check_corpus(corpus, "mine.tsv")
    assert Basis.from_tsv(basis.to_tsv()) == basis


def test_a_term_that_begins_with_a_hash():
    basis = Basis(("#", "##"), (("#", "1"), ("a", "#")), (4, 3), (2, 1))
    assert Basis.from_tsv(basis.to_tsv()) == basis


def test_words_that_hold_a_space_make_distinct_terms(tmp_path):
    """Some corpora have lemmas such as `New York`."""
    sentences = [["new", "york city"], ["new york", "city"], ["new", "york"], ["new york"]]
    basis = Basis.of(make_store(tmp_path, sentences), 9)
    assert {("new", "york city"), ("new york", "city"), ("new", "york")} == set(basis.bigrams)
    assert len(set(basis.terms)) == len(basis)
    again = Basis.from_tsv(basis.to_tsv())
    assert (again, again.bigrams, again.bigram_counts) == (basis, basis.bigrams, basis.bigram_counts)
    basis.save(tmp_path / "basis.tsv")
    assert Basis.problems(tmp_path / "basis.tsv") == []


def test_a_file_that_was_cut_off_or_edited_is_noticed(corpus, tmp_path):
    path = tmp_path / "basis.tsv"
    Basis.of(corpus, 5).save(path)
    assert Basis.problems(path) == []
    whole = path.read_text()
    for damaged in (whole[: whole.rindex("\n", 0, -1) + 1], whole.replace("cat\t18", "cat\t17")):
        path.write_text(damaged)
        (problem,) = Basis.problems(path)
        assert "checksum" in problem


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "mine.tsv holds no basis terms; make one with bagpack basis"),
        ("trigram\ta b c\t3\n", "mine.tsv:1 is not a basis line"),
        ("unigram\ta\tmany\n", "mine.tsv:1 is not a basis line"),
        ("unigram\ta\t٣\n", "mine.tsv:1 is not a basis line"),
        ("bigram\ta\t1\n", "mine.tsv:1 is not a basis line"),
        ("unigram\ta\nunigram\tb\nunigram\ta\n", "mine.tsv:3 has the unigram 'a' a second time"),
    ],
)
def test_what_is_wrong_in_a_file_is_reported(tmp_path, text, sentence):
    (tmp_path / "mine.tsv").write_text(text)
    with pytest.raises(BagpackError) as error:
        Basis.open(tmp_path / "mine.tsv")
    assert sentence in str(error.value)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "latin.tsv").write_bytes(b"unigram\tcaf\xe9\n")
    for name in ("none.tsv", "latin.tsv"):
        with pytest.raises(BagpackError, match=rf"{name} cannot be read .*; give a TSV file in UTF-8"):
            Basis.open(tmp_path / name)


def test_a_basis_of_another_corpus_is_refused(corpus, tmp_path):
    other = make_store(tmp_path, [["a", "b"]])
    with pytest.raises(StoreError, match=r"basis.tsv was chosen from a corpus other than"):
        Basis.of(other, 2).check_corpus(corpus, "basis.tsv")
