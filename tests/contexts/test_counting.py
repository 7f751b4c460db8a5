"""Workers, segments and large numbers: the same integers, whichever way the work is cut."""

import tracemalloc
from functools import cache

import numpy as np
import pytest

from bagpack import Basis, index_corpus, parallel
from bagpack.contexts import count as count_module
from bagpack.contexts.count import join_rows, narrowed
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.corpus.options import TextOptions
from bagpack.errors import StoreError, UsageError
from bagpack.parallel import Shared
from bagpack.vectors.counts import count_pairs
from tests.contexts import oracle
from tests.contexts.stores import assert_equal, make_store


def count(corpus, pairs, basis, n_jobs=None, **settings):
    with parallel.settings(n_jobs=n_jobs):
        return count_pairs(corpus, pairs, basis, CountSettings(**settings))


MANY = ["w0", "w1", "w40", "w299", "w3 w1", "w0 w0"]
MANY_PAIRS = [(one, two) for one in MANY for two in MANY]
TERMS = Basis(("w0", "w2", "w9"), (("w1", "w0"),))


@pytest.fixture(scope="module")
def expected(random_sentences):
    """What the oracle counts for each pair, once for each number of tokens between them."""
    terms = [("w0",), ("w2",), ("w9",), ("w1", "w0")]

    @cache
    def vectors(between):
        pairs = [(tuple(one.split()), tuple(two.split())) for one, two in MANY_PAIRS]
        return [oracle.vector(random_sentences, *pair, terms, 150, pair=(2, between, 2)) for pair in pairs]

    return vectors


# Search or mark; start marks afresh when their numbers run out; a reach of several sentences; pairs in parts.
WAYS = [
    (5, 0, 1, 1 << 18), (5, 32, 1, 100), (5, 1 << 30, 1, 64), (5, 1 << 30, (1 << 32) - 2000, 1 << 18),
    (100, 1 << 30, 1, 1 << 18),
]  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize(("between", "marks_per_search", "first_mark", "at_once"), WAYS)
def test_many_pairs_of_a_larger_corpus_equal_the_oracle(
    corpora, expected, monkeypatch, between, marks_per_search, first_mark, at_once
):
    monkeypatch.setattr(count_module, "AT_ONCE", at_once)
    monkeypatch.setattr(count_module, "MARKS_PER_SEARCH", marks_per_search)
    monkeypatch.setattr(count_module, "FIRST_MARK", first_mark)
    monkeypatch.setattr(count_module, "SUMS_BYTES", 100)  # one word, or a few, at once
    how = {"limit": 150, "windows": Windows(between=between)}
    first, *others = (count(corpus, MANY_PAIRS, TERMS, **how) for corpus in corpora)
    for other in others:
        assert_equal(first, other)
    names, rows = np.array(first.feature_names()), first.tocsr().toarray()
    for row, pair, counts in zip(rows, MANY_PAIRS, expected(between), strict=True):
        assert {names[i]: int(row[i]) for i in np.flatnonzero(row)} == counts, pair


@pytest.mark.costly
@pytest.mark.parametrize("settings", [{"limit": 30}, {"limit": None}])
def test_any_number_of_workers_and_any_segments_give_the_same_bits(corpora, monkeypatch, settings):
    monkeypatch.setattr(count_module, "CHUNK_WORDS", 7)
    monkeypatch.setattr(count_module, "CHUNK_PAIRS", 5)
    monkeypatch.setattr(count_module, "HELD_PER_TASK", 100)
    monkeypatch.setattr(count_module, "AT_ONCE", 20)
    asked = [(f"w{i}", f"w{i * 7 % 100}") for i in range(60)]
    basis = Basis.of(corpora[0], 20)
    first = count(corpora[0], asked, basis, 1, **settings)
    assert first.tocsr().nnz > 1000
    for n_jobs in (1, 2, 3):  # 2 and 3: real loky workers
        for corpus in corpora:
            assert_equal(first, count(corpus, asked, basis, n_jobs, **settings))
    swapped = count(corpora[1], [pair[::-1] for pair in asked], basis, **settings)
    np.testing.assert_array_equal(first.n_plus, swapped.n_minus)
    np.testing.assert_array_equal(first.counted, swapped.counted)
    half = 3 * len(basis)
    turned = swapped.tocsr("v12").toarray()
    np.testing.assert_array_equal(
        first.tocsr("v12").toarray(), np.hstack([turned[:, half:], turned[:, :half]])
    )


def features(matrix, basis):
    """(number of the segment, term) → count."""
    row = matrix.tocsr()
    return {
        (int(column) // len(basis), basis.terms[column % len(basis)]): int(value)
        for column, value in zip(row.indices, row.data, strict=True)
    }


@pytest.fixture(scope="module")
def repeated(tmp_path_factory):
    """`a` 1.1 million times, in one sentence."""
    folder = tmp_path_factory.mktemp("repeated")
    (folder / "a.vert").write_text("<s>\n" + "a\tX\ta\n" * 1_100_000 + "</s>\n")
    options = TextOptions(max_sentence=3_000_000)
    return index_corpus([str(folder / "a.vert")], folder / "a.bp", options, jobs=1).corpus


def test_rows_with_counts_above_31_bits_are_joined():
    one = np.array([1])
    left = [Shared(facts=(one,), held=(narrowed(np.array([n])), np.array([0], np.int32))) for n in (1, 2**31)]
    for order in ([0, 1], [1, 0]):
        rows = join_rows(left, np.array(order), 1)
        assert rows.toarray().ravel()[order].tolist() == [1, 2**31]
    assert narrowed(np.array([2**31 - 1])).dtype == np.int32


def test_a_store_that_is_made_again_meanwhile_is_not_counted(tmp_path):
    old, _ = (make_store(tmp_path, [["a", "b"] * number]) for number in (1, 2))
    with pytest.raises(StoreError, match=r"changed .*again"):
        count(old, [("a", "b")], TERMS)


@pytest.mark.parametrize(("limit", "most"), [(None, 80e6), (5000, 10e6)])
def test_a_pair_takes_little_memory_however_often_it_occurs(repeated, limit, most):
    (target,) = repeated.resolve(["a"])
    repeated.count_pairs([(target, target)], Basis(("a",), ()), CountSettings(limit=1))
    tracemalloc.start()
    rows, together = repeated.count_pairs([(target, target)], Basis(("a",), ()), CountSettings(limit=limit))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    taken = limit or 1_099_999
    assert together.tolist() == [[1_099_999, 1_099_999, taken, taken]]
    if limit is None:
        assert rows.toarray()[0].tolist() == [1_099_998, 0, 1_099_998] * 2
    assert peak < most


@pytest.mark.costly
def test_a_basis_of_more_than_a_million_terms(tmp_path, monkeypatch):
    sentences = [["a", "b", "lion", "c", "d", "cat", "a", "b"], ["cat", "lion", "e"]] * 3
    source = make_store(tmp_path, sentences)
    unigrams, bigrams = ("a", "c", "e"), (("a", "b"), ("c", "d"))
    small = count_pairs(source, [("lion", "cat")], Basis(unigrams, bigrams), CountSettings())
    more = tuple(map(str, range(550_000)))
    basis = Basis(more + unigrams, (*((word, more[0]) for word in more), *bigrams))
    large = count_pairs(source, [("lion", "cat")], basis, CountSettings())
    assert features(large, basis) == features(small, Basis(unigrams, bigrams))
    assert sum(features(large, basis).values()) > 20
    assert count_module.MOST_TERMS == 2_097_144
    for limit, problem in (
        ("MOST_TERMS", "5 terms; .* 4$"),
        ("MOST_CELLS", "2 first .* 2 second .* -b"),
    ):
        count_module.word_tables.cache_clear()  # which would hold the large ones on
        count_module.basis_tables.cache_clear()
        monkeypatch.setattr(count_module, limit, 4)
        with pytest.raises(UsageError, match=problem):
            source.count_words(source.resolve(["lion"]), Basis(unigrams, bigrams), CountSettings())
        monkeypatch.undo()
