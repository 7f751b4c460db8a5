"""Numbers that are larger than what is usual: counts, co-occurrences of one pair, basis terms."""

import tracemalloc

import numpy as np
import pytest

from bagpack.basis import Basis
from bagpack.contexts.count import join_rows, narrowed
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.errors import UsageError
from bagpack.parallel import Shared
from bagpack.vectors.counts import count_pairs

from .stores import make_store


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


@pytest.mark.parametrize(("limit", "most"), [(None, 80e6), (5000, 10e6)])
def test_a_pair_takes_little_memory_however_often_it_occurs(repeated, limit, most):
    (target,) = repeated.resolve(["a"])
    repeated.count_pairs([(target, target)], Basis(("a",), ()), CountSettings(limit=1))
    tracemalloc.start()
    counts = repeated.count_pairs([(target, target)], Basis(("a",), ()), CountSettings(limit=limit))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    taken = limit or 1_099_999
    assert counts.found.tolist() == [[1_099_999, 1_099_999]]
    assert counts.taken.tolist() == [[taken, taken]]
    if limit is None:
        assert counts.rows.toarray()[0].tolist() == [1_099_998, 0, 1_099_998] * 2
    assert peak < most


@pytest.mark.costly
def test_a_basis_of_more_than_a_million_terms(tmp_path):
    sentences = [["a", "b", "lion", "c", "d", "cat", "a", "b"], ["cat", "lion", "e"]] * 3
    source = make_store(tmp_path, sentences)
    unigrams, bigrams = ("a", "c", "e"), (("a", "b"), ("c", "d"))
    small = count_pairs(source, [("lion", "cat")], Basis(unigrams, bigrams), CountSettings())
    more = tuple(map(str, range(550_000)))
    basis = Basis(more + unigrams, (*((word, more[0]) for word in more), *bigrams))
    large = count_pairs(source, [("lion", "cat")], basis, CountSettings())
    assert features(large, basis) == features(small, Basis(unigrams, bigrams))
    assert sum(features(large, basis).values()) > 20
    for wrong, problem in (
        (Basis(tuple(map(str, range(2_200_000))), ()), "2,200,000 terms; give at most 2,097,144"),
        (Basis((), tuple((f"a{i}", f"b{i}") for i in range(20_000))), "20,000 first and 20,000 second words"),
    ):
        with pytest.raises(UsageError, match=problem):
            source.count_words(source.resolve(["lion"]), wrong, CountSettings())
