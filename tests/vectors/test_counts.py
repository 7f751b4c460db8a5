"""Counts of pairs and their vectorizer: names, selections, what is counted again, on disk, and in scikit-learn."""

import pickle
import re
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from bagpack import Basis, Corpus, PairCounts, PairVectorizer, index_corpus
from bagpack.contexts.windows import CountSettings
from bagpack.errors import BagpackError, InputError, StoreError, UsageError
from bagpack.info import damages
from bagpack.names import feature_names
from bagpack.vectors import counts as counting
from bagpack.vectors.counts import CountCache, count_cached, count_pairs, forget
from bagpack.vectors.storage import ARRAYS, export, verify_matrix
from tests.contexts.stores import assert_equal, make_store
from tests.forging import assert_damage_is_found, data_of, forge
from tests.synthetic import counts_of, make_counts
from tests.vectors.conftest import PAIRS

GOLDEN_NAMES = """
v1:pre:T v1:pre:U V v1:post:T v1:post:U V v2:pre:T v2:pre:U V v2:post:T v2:post:U V
v12:+pre:T v12:+pre:U V v12:+betw:T v12:+betw:U V v12:+post:T v12:+post:U V
v12:-pre:T v12:-pre:U V v12:-betw:T v12:-betw:U V v12:-post:T v12:-post:U V
"""
GOLDEN_TSV = """w1\tw2\tfeature\tcount
cat\tlion\tv1:pre:only\t1
cat\tlion\tv1:post:that\t1
cat\tlion\tv2:post:only\t1
cat\tlion\tv12:-betw:only\t1
cat\tlion\tv12:-post:that\t1
"""


def count(corpus, pairs, basis, **settings):
    return count_pairs(corpus, pairs, basis, CountSettings(**settings))


def test_feature_names_stand_in_the_order_of_the_specification():
    assert " ".join(feature_names(["T", "U V"])) == " ".join(GOLDEN_NAMES.split())
    assert len(feature_names(["T", "U V"])) == 10 * 2
    with pytest.raises(UsageError, match="v1v3"):
        feature_names(["T"], "v1v3")


def test_what_is_known_of_each_pair(matrix, corpus):
    assert len(matrix) == 7
    assert matrix.n_w1.tolist() == [18, 6, 18, 3, 0, 3, 18]
    assert matrix.n_w2.tolist() == [6, 18, 18, 3, 18, 3, 6]
    assert matrix.n_plus.tolist() == [3, 6, 6, 3, 0, 3, 3]
    assert matrix.n_minus.tolist() == [6, 3, 6, 0, 0, 0, 6]
    assert matrix.unknown_words == ["unicorn"]
    assert [matrix[[4]].tocsr(block).nnz > 0 for block in ("v1", "v2", "v12")] == [False, True, False]
    np.testing.assert_array_equal(matrix[[0]].tocsr().toarray(), matrix[[6]].tocsr().toarray())
    capped = count(corpus, PAIRS, Basis.of(corpus, 4), limit=2)
    assert matrix.seen.tolist() == capped.seen.tolist() == [9, 9, 6, 3, 0, 3, 9]  # what the corpus has,
    assert capped.counted.tolist() == [2, 2, 2, 2, 0, 2, 2]  # and what the cap left
    assert capped.capped_pairs == {"cat cat": 6, "cat lion": 9, "hammer nail": 3, "ice cream town": 3}
    some = capped.take([5])
    assert (some.capped_pairs, some.unknown_words) == ({"hammer nail": 3}, [])
    assert some.capped_words == {"hammer": 3, "nail": 3}
    reached = count(corpus, PAIRS[5:6], Basis.of(corpus, 4), limit=3)  # but not exceeded
    assert reached.capped_pairs == reached.capped_words == {}


def test_zero_rows_by_block():
    words = sparse.csr_array(np.array([[1, 0], [0, 0]]))
    pairs = sparse.csr_array(np.array([[0] * 6, [0] * 6, [1] + [0] * 5]))
    counts = counts_of(words, [0, 1, 1], [1, 1, 1], pairs)
    assert counts.zero_rows(("v1", "v2")).tolist() == [False, True, True]
    assert counts.zero_rows(("v12",)).tolist() == [True, True, False]
    assert counts.zero_rows().tolist() == [False, True, False]


class Counting(Corpus):
    """A source that says how many words and pairs it was asked to count."""

    asked = 0

    def count_words(self, targets, *args):
        self.asked += len(targets)
        return super().count_words(targets, *args)

    def count_pairs(self, pairs, *args):
        self.asked += len(pairs)
        return super().count_pairs(pairs, *args)


@pytest.mark.parametrize("limit", [None, 2])
@pytest.mark.parametrize("cut", [0, 1, 4, 7])
def test_what_a_cache_has_is_not_counted_again(corpus, limit, cut):
    source, basis, settings = Counting.open(corpus.path), Basis.of(corpus, 4), CountSettings(limit=limit)
    cache = CountCache(basis, settings)
    count_pairs(source, PAIRS[:cut], basis, settings, cache)
    found = count_pairs(source, PAIRS, basis, settings, cache)
    assert source.asked == 6 + 4  # distinct words that are known, and unordered pairs of them
    again = count_pairs(source, [*PAIRS[::-1], ("cats", "lion")], basis, settings, cache)
    assert source.asked == 10
    assert_equal(found, count(corpus, PAIRS, basis, limit=limit))
    assert_equal(again[:7], count(corpus, PAIRS[::-1], basis, limit=limit))


def test_remembered_counts_are_those_of_their_settings_and_basis(corpus, tmp_path):
    """Recently counted pairs are found again only in the same content, with the same settings and basis."""
    forget()
    source = Counting.open(corpus.path)
    basis = Basis.of(corpus, 4)
    for settings in ({}, {"limit": 2}):
        for own in (basis, Basis.of(corpus, 2)):
            found = count_cached(source, PAIRS, own, CountSettings(**settings))
            assert_equal(found, count(corpus, PAIRS, own, **settings))
    asked = source.asked
    count_cached(source, PAIRS[::-1], basis, CountSettings(limit=2))
    assert source.asked == asked == 4 * 10
    for number in (2, 3):  # a store of the same name, made again
        again = make_store(tmp_path, [["cat", "lion"]] * number)
        assert count_cached(again, PAIRS[:1], basis, CountSettings()).seen.tolist() == [number]
    forget()


def test_one_pair_costs_the_same_however_many_are_remembered(corpus, monkeypatch):
    """Rows that are kept are never copied when others are added or asked for."""
    forget()
    basis, settings = Basis.of(corpus, 4), CountSettings()
    count_cached(corpus, PAIRS, basis, settings)
    rows, make_rows = [], counting.make_rows
    monkeypatch.setattr(counting, "make_rows", lambda *parts: rows.append(parts[2].size) or make_rows(*parts))
    for pair in (("cat", "lion"), ("dog", "cat")):
        assert len(count_cached(corpus, [pair], basis, settings)) == 1
    assert rows and max(rows) == 2  # its two words, its one pair
    forget()


def test_selections_share_their_tables_and_are_saved_alone(matrix, tmp_path):
    for rows in ([3, 1], slice(2, 5), np.arange(7) > 4):
        some = matrix[rows]
        assert some.words is matrix.words
        np.testing.assert_array_equal(some.tocsr().toarray(), matrix.tocsr().toarray()[rows])
        np.testing.assert_array_equal(some.seen, matrix.seen[rows])
    matrix[[5, 3]].save(tmp_path / "m.bpm")
    opened = PairCounts.open(tmp_path / "m.bpm")
    assert_equal(opened, matrix[[5, 3]])
    assert opened.words.shape[0] == 4 and opened.together.shape[0] == 2


def test_a_reversed_pair_has_its_blocks_exchanged(matrix):
    there, back = matrix.tocsr().toarray(), matrix.reversed().tocsr().toarray()
    np.testing.assert_array_equal(back[:, 16:32], there[:, :16])
    np.testing.assert_array_equal(back[:, 32:56], there[:, 56:])
    np.testing.assert_array_equal(matrix.reversed().n_plus, matrix.n_minus)
    assert matrix.rows_of([("hammer", "nail")]).seen.tolist() == [3]
    with pytest.raises(StoreError, match="dog nail"):
        matrix.rows_of([("dog", "nail")])


def test_saved_and_opened_it_is_the_same(matrix, corpus, tmp_path):
    made_up, _ = make_counts(n_pairs=300, n_words=12, seed=2)  # a pair and its reverse are rows of their own
    empty, unknown = (count(corpus, pairs, Basis.of(corpus, 4)) for pairs in ([], [("unicorn", "gryphon")]))
    for number, counts in enumerate((matrix, made_up, empty, unknown)):
        path, again = tmp_path / f"{number}.bpm", tmp_path / f"{number}.again"
        counts.save(path)
        opened = PairCounts.open(path)
        assert_equal(opened, counts)
        opened.save(again)
        for file in [file for file in path.rglob("*") if file.is_file()]:
            assert (again / file.relative_to(path)).read_bytes() == file.read_bytes()
    assert_equal(pickle.loads(pickle.dumps(matrix)), matrix)


FORGED = {
    "words.indices": lambda a: np.where(np.arange(a.size) == 3, 10**6, a),
    "pairs.indices": lambda a: np.where(np.arange(a.size) == 1, -5, a),
    "words.indptr": lambda a: np.where(np.arange(a.size) == 1, 10**9, a),
    "pairs.indptr": lambda a: a[::-1].copy(),
    "names.word": lambda a: a + 10**6,
    "rows.names": lambda a: a + 10**6,
    "rows.pair": lambda a: a - 10**6,
    "rows.swapped": lambda a: a + 2,
    "names.offsets": lambda a: a * 7,
    "keys.offsets": lambda a: np.where(np.arange(a.size) == 1, 10**12, a),
    "words.data": lambda a: -a,
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_matrix_is_refused_before_any_kernel_sees_it(matrix, tmp_path, name):
    path = tmp_path / "m.bpm"
    matrix.save(path)
    declared = ARRAYS[name]
    values = np.fromfile(data_of(path) / name, declared.dtype)
    forge(path, file=name, content=FORGED[name](values).astype(declared.dtype).tobytes())
    with pytest.raises(StoreError, match=r"m\.bpm.* damaged"):
        PairCounts.open(path)
    assert verify_matrix(path)
    matrix.save(path, overwrite=True)
    for changes in (
        {"pairs": "7"}, {"words": -1}, {"terms": True}, {"source": {}}, {"settings": {"limit": 5}},
    ):  # fmt: skip
        manifest = (path / "manifest.json").read_text()
        forge(path, **changes)
        with pytest.raises(StoreError, match=r"manifest.json .*restore"):
            PairCounts.open(path)
        (path / "manifest.json").write_text(manifest)


def test_verify_finds_every_flipped_bit(matrix, tmp_path):
    matrix.save(tmp_path / "m.bpm")
    for _ in assert_damage_is_found(tmp_path / "m.bpm", damages):
        with suppress(BagpackError):  # opening may refuse it or not, but must not crash
            PairCounts.open(tmp_path / "m.bpm").tocsr()


def test_a_matrix_of_another_version_or_kind(matrix, tmp_path, store):
    matrix.save(tmp_path / "m.bpm")
    forge(tmp_path / "m.bpm", format_version=9)
    for path, problem in ((tmp_path / "m.bpm", "format version 9"), (store, "corpus"), ("none", "not exist")):
        with pytest.raises(StoreError, match=problem):
            PairCounts.open(path)
    with pytest.raises(StoreError, match="BagPack matrix"):
        matrix.save(store, overwrite=True)


def test_the_long_table_of_the_papers_sentence(tmp_path):
    (tmp_path / "lion.txt").write_text("Lion is the only cat that lives in large social groups.\n")
    corpus = index_corpus([str(tmp_path / "lion.txt")], tmp_path / "lion.bp").corpus
    export(count(corpus, [("cat", "lion")], Basis(("only", "that"), ())), tmp_path / "x.tsv")
    assert (tmp_path / "x.tsv").read_text() == GOLDEN_TSV


def test_counts_beyond_32_bits_are_not_cut_off(matrix, tmp_path):
    large = matrix.words.copy().astype(np.int64)
    large.data[0] = 1 << 31
    with pytest.raises(UsageError, match=r"2,147,483,648 .*--limit"):
        replace(matrix, words=large).save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_the_bytes_are_as_the_documentation_describes_them(matrix, tmp_path, pytestconfig):
    """Its code reads a matrix without BagPack."""
    matrix.save(tmp_path / "pairs.bpm")
    page = (pytestconfig.rootpath / "docs" / "formats.md").read_text(encoding="utf-8")
    text = page.partition("## The pair matrix")[2].partition("## The model")[0]
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict = {}
    exec(code.replace('"pairs.bpm"', repr(str(tmp_path / "pairs.bpm"))), names)
    assert (names["words"] != matrix.words).nnz == 0
    listed = set(re.findall(r"`([a-z]+(?:\.[a-z]+)+)`", text.split("### The manifest")[0]))
    assert {file.name for file in data_of(tmp_path / "pairs.bpm").iterdir()} <= listed | {"files"}


def test_written_by_hand_without_counts_header_or_corpus(corpus):
    basis = Basis.from_tsv("unigram\tonly\r\nbigram\tlive in\n\n# mine\n")
    assert (basis.terms, basis.corpus_hash) == (["only", "live in"], "")
    basis.check_corpus(corpus, "mine.tsv")
    hashes = Basis(("#", "##"), (("#", "1"), ("a", "#")), (4, 3), (2, 1))
    for each in (basis, hashes):
        assert Basis.from_tsv(each.to_tsv()) == each


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


@pytest.mark.parametrize(
    ("line", "content"),
    [("", b""), (":1", b"trigram\ta b c\t3\n"), (":1", b"unigram\ta\tmany\n"), (":1", "unigram\ta\t٣\n".encode()),
     (":1", b"bigram\ta\t1\n"), (":3", b"unigram\ta\nunigram\tb\nunigram\ta\n"), ("", b"caf\xe9"), ("", None),
     (":1", b"unigram\ta\t" + b"9" * 5000), ("", b"unigram\tbeyond the limit\t1\n" * 3)],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_reported(tmp_path, monkeypatch, line, content):
    monkeypatch.setattr("bagpack.basis.MOST_CHARACTERS", 6000 if line else 30)
    if content is not None:
        (tmp_path / "mine.tsv").write_bytes(content)
    with pytest.raises(BagpackError, match=f"mine.tsv{line} "):
        Basis.open(tmp_path / "mine.tsv")


def test_a_basis_of_another_corpus_is_refused(corpus, tmp_path):
    other = make_store(tmp_path, [["a", "b"]])
    with pytest.raises(StoreError, match=r"basis.tsv "):
        Basis.of(other, 2).check_corpus(corpus, "basis.tsv")


def dense(vectorizer, pairs):
    return vectorizer.transform(pairs).toarray()


@pytest.fixture
def vectorizer(corpus):
    return PairVectorizer(corpus, b=4)


@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_common_checks(corpus):
    """Those that need columns of numbers are left out by scikit-learn; the next test is in their place."""
    check_estimator(PairVectorizer(corpus, b=4))


def test_what_the_common_checks_ask_of_other_transformers(vectorizer):
    with pytest.raises(NotFittedError):
        vectorizer.transform(PAIRS)
    before = dict(vectorizer.get_params())
    whole = dense(vectorizer.fit(PAIRS), PAIRS)
    assert whole.shape == (len(PAIRS), 80) and len(set(vectorizer.get_feature_names_out())) == 80
    fitted = dict(vars(vectorizer))
    order = np.random.default_rng(0).permutation(len(PAIRS))
    np.testing.assert_array_equal(dense(vectorizer, [PAIRS[i] for i in order]), whole[order])
    np.testing.assert_array_equal(np.vstack([dense(vectorizer, [pair]) for pair in PAIRS]), whole)
    assert vars(vectorizer) == fitted
    np.testing.assert_array_equal(vectorizer.fit_transform(PAIRS, y=[0] * len(PAIRS)).toarray(), whole)
    np.testing.assert_array_equal(dense(pickle.loads(pickle.dumps(vectorizer)), PAIRS), whole)
    assert vectorizer.get_params() == before and vectorizer.n_features_in_ == 2


def test_pairs_may_come_as_lists_arrays_and_frames(vectorizer, store):
    whole = vectorizer.fit_transform(PAIRS).toarray()
    frames = pd.DataFrame(PAIRS, columns=["w1", "w2"]), pl.DataFrame(PAIRS, schema=["w1", "w2"], orient="row")
    arrays = np.array(PAIRS), np.array(PAIRS, dtype=object)
    for pairs in ([list(pair) for pair in PAIRS], *arrays, *frames, iter(PAIRS)):
        np.testing.assert_array_equal(dense(vectorizer, pairs), whole)
    np.testing.assert_array_equal(PairVectorizer(str(store), b=4).fit_transform(PAIRS).toarray(), whole)


WRONG = [
    "cat lion", ["cat lion"], [("a", "b"), ("a", "b", "c")], [("cat", "")], [("cat", None)], [(1, 2)], 7, [],
]  # fmt: skip


@pytest.mark.parametrize("pairs", WRONG, ids=range(len(WRONG)))
def test_what_is_no_pair_is_reported(vectorizer, pairs):
    with pytest.raises(InputError, match="pair") as error:
        vectorizer.fit(pairs)
    assert isinstance(error.value, ValueError)
    assert pairs != WRONG[2] or "item 1 " in str(error.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("b", 0), ("limit", 0), ("limit", 2**63), ("windows", "4/2"), ("windows", "4/2-5000-2"), ("condition", "v3")],
)  # fmt: skip
def test_wrong_parameters_are_reported_when_fitting(corpus, name, value):
    with pytest.raises(UsageError):
        PairVectorizer(corpus, **{name: value}).fit(PAIRS)
