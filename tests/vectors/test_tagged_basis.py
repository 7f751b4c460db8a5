"""Basis terms with parts of speech, from the file to explanations; test_against_oracle.py checks their counts."""

import json

import pytest

from bagpack import Corpus
from bagpack.basis import Basis, BasisChoice
from bagpack.contexts.source import CorpusSource
from bagpack.contexts.targets import resolve_targets
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.store.function_words import is_content_word
from bagpack.errors import UsageError
from bagpack.explain.lines import PairEvidence
from bagpack.find.vocabulary import corpus_vocabulary
from bagpack.vectors.matrix import BlockMatrix
from tests.contexts.stores import make_store

SENTENCES = [
    ["the/DET", "cat/NOUN", "see/VERB", "a/DET", "saw/NOUN", "of/ADP", "the/DET", "dog/NOUN"],
    ["a/DET", "dog/NOUN", "saw/VERB", "and/CCONJ", "see/VERB", "the/DET", "old/ADJ", "cat/NOUN"],
    ["cat/NOUN", "and/CCONJ", "dog/NOUN", "run/VERB"],
] * 3
PAIRS = [("cat", "dog"), ("dog", "cat"), ("saw/NOUN", "dog"), ("dog", "saw/VERB")]
CHOICE = BasisChoice(40, tags=True, tag_terms=True)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("tagged"), SENTENCES, (4,)).path


@pytest.fixture
def corpus(store):
    return Corpus.open(store)


def test_the_file_says_that_terms_have_parts_of_speech(corpus, tmp_path):
    basis = Basis.of(corpus, CHOICE)
    basis.save(tmp_path / "b.tsv")
    assert Basis.open(tmp_path / "b.tsv") == basis
    assert Basis.open(tmp_path / "b.tsv").tagged
    assert {"NOUN", "saw/NOUN", "saw/VERB", "DET cat/NOUN"} <= set(basis.terms)
    without = "\n".join(line for line in basis.to_tsv().splitlines() if not line.startswith("#"))
    assert Basis.from_tsv(without) != basis


def test_in_an_old_file_a_word_that_looks_like_a_tag_is_a_word(tmp_path):
    """With --case keep, NOUN is a word."""
    (tmp_path / "a.vert").write_text("<s>\ncat\tNN\tcat\nNOUN\tNN\tNOUN\nADJ\tJJ\tADJ\n</s>\n")
    from bagpack import TextOptions

    corpus = index_corpus([str(tmp_path / "a.vert")], tmp_path / "s", TextOptions(case="keep")).corpus
    old = Basis.from_tsv("kind\tterm\tcount\nunigram\tNOUN\t1\nunigram\tADJ\t1\n")
    assert not old.tagged
    matrix = BlockMatrix.count(CorpusSource(corpus), [("cat", "cat")], old, CountSettings())
    assert [matrix.feature_names()[j] for j in matrix.nonzero()[1]] == [
        "v1:post:NOUN", "v1:post:ADJ", "v2:post:NOUN", "v2:post:ADJ",
    ]  # fmt: skip
    tags = Basis.of(corpus, BasisChoice(9, tag_terms=True))  # the words NOUN and ADJ are excluded
    assert set(tags.unigrams) == {"cat", "NOUN", "ADJ"}
    assert dict(zip(tags.unigrams, tags.unigram_counts, strict=True)) == {"NOUN": 2, "ADJ": 1, "cat": 1}


def test_a_corpus_without_tags_refuses_them(tmp_path, corpus):
    (tmp_path / "a.txt").write_text("A cat saw a dog.\n")
    plain = index_corpus([str(tmp_path / "a.txt")], tmp_path / "s").corpus
    with pytest.raises(UsageError, match="has no parts of speech, so basis terms cannot have any"):
        Basis.of(plain, CHOICE)
    with pytest.raises(UsageError, match="has no parts of speech, and the basis has terms such as NOUN"):
        BlockMatrix.count(CorpusSource(plain), [("cat", "dog")], Basis.of(corpus, CHOICE), CountSettings())


@pytest.mark.parametrize("count", ["context", "token"])
def test_every_count_has_its_lines(corpus, count):
    """Lines are found without the counting kernels, so they check each other."""
    source, settings = CorpusSource(corpus), CountSettings(count=count)
    matrix = BlockMatrix.count(source, PAIRS, Basis.of(corpus, CHOICE), settings)
    names = matrix.feature_names()
    assert matrix.copy().nnz > 20
    for row, pair in enumerate(PAIRS):
        one, two = resolve_targets(corpus, pair)
        evidence = PairEvidence(source, one, two, settings, tagged=True)
        counts = matrix.copy()[[row]]
        for column, value in zip(counts.indices.tolist(), counts.data.tolist(), strict=True):
            found = evidence.lines(names[column])
            assert found.count == value, names[column]
    evidence = PairEvidence(source, *resolve_targets(corpus, ("cat", "dog")), settings, tagged=True)
    spans = evidence.lines("v12:+betw:saw/NOUN", 1).spans[0]
    assert [span.text for span in spans if span.mark == "term"] == ["SAW"]


def test_a_matrix_and_a_model_keep_the_basis(store, tmp_path, cli):
    (tmp_path / "d.tsv").write_text(
        "w1\tw2\tlabel\ncat\tdog\tyes\ndog\tcat\tno\nsaw/NOUN\tdog\tyes\ndog\tsee\tno\n"
    )
    tags = ("--basis-tags", "--tag-terms", "-b", "30")
    assert cli("vectors", store, tmp_path / "d.tsv", "--out", tmp_path / "m", *tags).code == 0
    matrix = BlockMatrix.open(tmp_path / "m")
    assert matrix.basis == Basis.of(Corpus.open(store), BasisChoice(30, True, True))
    assert cli("verify", tmp_path / "m").code == 0
    refused = cli("vectors", store, tmp_path / "d.tsv", "--out", tmp_path / "m", "--append", "--basis-tags")
    assert refused.code == 2 and "so --basis-tags cannot be given" in refused.err
    assert (
        cli("train", store, tmp_path / "d.tsv", "--out", tmp_path / "model", "--folds", "2", *tags).code == 0
    )
    explained = json.loads(cli("explain", tmp_path / "model", "cat", "dog", "--json").out)
    assert "NOUN" in json.dumps(explained) or "DET" in json.dumps(explained)
    found = cli("find", store, tmp_path / "d.tsv", "--top", "3", "--json", *tags)
    assert found.code == 0, found.err


def test_options_that_exclude_each_other(store, tmp_path, cli):
    (tmp_path / "p.tsv").write_text("w1\tw2\ncat\tdog\n")
    (tmp_path / "b.tsv").write_text(cli("basis", store, "-b", "3").out)
    wrong = cli(
        "vectors",
        store,
        tmp_path / "p.tsv",
        "--out",
        tmp_path / "m",
        "--basis",
        tmp_path / "b.tsv",
        "--tag-terms",
    )
    assert wrong.code == 2 and "--tag-terms chooses the terms of a new basis" in wrong.err
    assert "did you mean content?" in cli("basis", store, "--basis-words", "contents").err


def test_function_words_are_decided_by_most_of_their_tags(tmp_path):
    """Not by the English list: in this corpus `the` is a noun, and `dog` an article. X says nothing."""
    sentences = [
        ["the/NOUN", "dog/DET", "cat/NOUN"],
        ["dog/DET", "dog/NOUN", "cat/ADP"],
        ["of/X", "tree/X", "the/DET", "the/VERB"],
    ]
    corpus = make_store(tmp_path, sentences, (1, 2))
    words = ["the", "dog", "cat", "of", "tree", "unicorn"]
    numbers = corpus.lexicon.keys.find(words)
    assert is_content_word(corpus, numbers).tolist() == [True, False, True, False, True, False]
    found = corpus_vocabulary(CorpusSource(corpus))
    assert [str(target) for target in found.targets] == ["the", "cat", "tree"]
