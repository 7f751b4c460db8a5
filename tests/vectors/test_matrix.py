"""The pair matrix: names, blocks, growing, on disk, and what other tools read."""

import json
import shutil
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_svmlight_file

from bagpack import Basis, PairMatrix
from bagpack.contexts.source import CorpusSource
from bagpack.contexts.windows import CountSettings
from bagpack.errors import BagpackError, StoreError, UsageError
from bagpack.names import feature_names
from bagpack.vectors.export import export, to_frame
from tests.contexts.stores import make_store
from tests.vectors.conftest import PAIRS, SENTENCES

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
    return PairMatrix.count(CorpusSource(corpus), pairs, basis, CountSettings(**settings))


def assert_equal(one, two):
    assert one.pairs == two.pairs
    assert one.resolved == two.resolved
    assert one.basis == two.basis
    assert one.settings == two.settings
    for condition in ("v1", "v2", "v12", "v1v2", "v1v2v12"):
        first, second = one.block(condition), two.block(condition)
        assert first.shape == second.shape
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(first, part), getattr(second, part))
    for name in ("seen", "counted", "n_plus", "n_minus", "n_w1", "n_w2"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for name in ("unknown_words", "capped_words", "capped_pairs"):
        assert getattr(one, name) == getattr(two, name)


def test_feature_names_stand_in_the_order_of_the_specification():
    assert " ".join(feature_names(["T", "U V"])) == " ".join(GOLDEN_NAMES.split())
    assert len(feature_names(["T", "U V"])) == 10 * 2
    with pytest.raises(UsageError, match="v1v3"):
        feature_names(["T"], "v1v3")


def test_what_is_known_of_each_pair(matrix):
    assert len(matrix) == 7
    assert matrix.n_w1.tolist() == [18, 6, 18, 3, 0, 3, 18]
    assert matrix.n_w2.tolist() == [6, 18, 18, 3, 18, 3, 6]
    assert matrix.n_plus.tolist() == [3, 6, 6, 3, 0, 3, 3]
    assert matrix.n_minus.tolist() == [6, 3, 6, 0, 0, 0, 6]
    assert matrix.seen.tolist() == [9, 9, 6, 3, 0, 3, 9]
    assert matrix.unknown_words == ["unicorn"]
    assert matrix.block("v1")[[4]].nnz == 0
    assert matrix.block("v2")[[4]].nnz > 0
    assert matrix.block("v12")[[4]].nnz == 0
    np.testing.assert_array_equal(matrix.block()[[0]].toarray(), matrix.block()[[6]].toarray())


def test_seen_is_what_the_corpus_has_and_counted_what_the_cap_left(corpus):
    matrix = count(corpus, PAIRS, Basis.of(corpus, 4), limit=2)
    assert matrix.seen.tolist() == [9, 9, 6, 3, 0, 3, 9]
    assert matrix.counted.tolist() == [2, 2, 2, 2, 0, 2, 2]
    assert matrix.capped_pairs == {"cat cat": 6, "cat lion": 9, "hammer nail": 3, "ice cream town": 3}
    assert matrix.select([5]).capped_pairs == {"hammer nail": 3}
    assert matrix.select([5]).capped_words == {"hammer": 3, "nail": 3}
    assert matrix.select([5]).unknown_words == []


def test_the_counts_that_learners_take_are_the_block(matrix):
    np.testing.assert_array_equal(matrix.counts().matrix().toarray(), matrix.block().toarray())
    np.testing.assert_array_equal(
        matrix.counts([("hammer", "nail")]).matrix().toarray(), matrix.block()[[5]].toarray()
    )


@pytest.mark.parametrize("settings", [{}, {"limit": 2}, {"limit": 2, "sample": 7}, {"count": "token"}])
@pytest.mark.parametrize("cut", [0, 1, 4, 7])
def test_growing_gives_what_counting_at_once_gives(corpus, settings, cut):
    basis = Basis.of(corpus, 4)
    grown = count(corpus, PAIRS[:cut], basis, **settings).grow(CorpusSource(corpus), PAIRS[cut:])
    assert_equal(grown, count(corpus, PAIRS, basis, **settings))


def test_growing_counts_nothing_twice(corpus, matrix):
    class Counting(CorpusSource):
        asked = 0

        def count_words(self, targets, *args, **more):
            self.asked += len(targets)
            return super().count_words(targets, *args, **more)

        def count_pairs(self, pairs, *args, **more):
            self.asked += len(pairs)
            return super().count_pairs(pairs, *args, **more)

    source = Counting(corpus)
    matrix.grow(source, [("lion", "cat"), ("cats", "lion"), ("unicorn", "lion")])
    assert source.asked == 0
    matrix.grow(source, [("dog", "cat")])
    assert source.asked == 2


def test_rows_are_selected_and_looked_up(matrix):
    assert matrix.select([2, 0]).pairs == (PAIRS[2], PAIRS[0])
    assert matrix.select(np.array([True] + [False] * 6)).pairs == (PAIRS[0],)
    assert len(matrix.select([])) == 0
    assert matrix.select([]).block().shape == (0, 80)
    assert matrix.rows_of([("hammer", "nail")]).seen.tolist() == [3]
    with pytest.raises(
        StoreError, match=r"does not hold the pair dog nail; add it with bagpack vectors .* --append"
    ):
        matrix.rows_of([("dog", "nail")])


def test_saved_and_opened_it_is_the_same(matrix, tmp_path):
    matrix.save(tmp_path / "m.bpm")
    opened = PairMatrix.open(tmp_path / "m.bpm")
    assert_equal(opened, matrix)
    assert isinstance(opened.words.rows.data.base, np.memmap | np.ndarray)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.bpm"]
    opened.save(tmp_path / "again.bpm")
    for file in (tmp_path / "m.bpm").iterdir():
        assert (tmp_path / "again.bpm" / file.name).read_bytes() == file.read_bytes()


def test_an_empty_matrix_can_be_kept_too(corpus, tmp_path):
    matrix = count(corpus, [], Basis.of(corpus, 4))
    matrix.save(tmp_path / "m.bpm")
    assert_equal(PairMatrix.open(tmp_path / "m.bpm"), matrix)
    unknown = count(corpus, [("unicorn", "gryphon")], Basis.of(corpus, 4))
    assert unknown.block().shape == (1, 80)
    unknown.save(tmp_path / "u.bpm")
    assert_equal(PairMatrix.open(tmp_path / "u.bpm"), unknown)


def test_opening_does_not_depend_on_the_number_of_pairs(corpus, tmp_path):
    words = [f"x{i}" for i in range(1000)]
    pairs = [(words[i % 1000], words[i * 7 % 1000]) for i in range(100_000)]
    count(corpus, pairs, Basis.of(corpus, 4)).save(tmp_path / "m.bpm")
    PairMatrix.open(tmp_path / "m.bpm")
    begin = time.process_time()
    matrix = PairMatrix.open(tmp_path / "m.bpm")
    assert time.process_time() - begin < 0.05
    assert "pairs" not in vars(matrix)
    assert matrix.pairs[-1] == pairs[-1]


def test_a_store_that_changed_is_refused(matrix, tmp_path):
    other = make_store(tmp_path, [*SENTENCES, ["more"]])
    with pytest.raises(StoreError, match=r"was counted from .* but .* has content .*; count the pairs again"):
        matrix.grow(CorpusSource(other), [("dog", "cat")])


@pytest.mark.parametrize(
    "name", ["words.data", "pairs.indptr", "rows", "names.blob", "basis.tsv", "manifest.json"]
)
def test_damage_is_a_sentence(matrix, tmp_path, name):
    path = tmp_path / "m.bpm"
    matrix.save(path)
    whole = (path / name).read_bytes()
    for damaged in (whole[:-8], whole + bytes(8), None):
        if damaged is None:
            (path / name).unlink()
        else:
            (path / name).write_bytes(damaged)
        with pytest.raises(BagpackError) as told:
            PairMatrix.open(path)
        assert str(path) in str(told.value)


def test_a_matrix_of_another_version_or_kind(matrix, tmp_path, store):
    matrix.save(tmp_path / "m.bpm")
    manifest = json.loads((tmp_path / "m.bpm" / "manifest.json").read_text())
    (tmp_path / "m.bpm" / "manifest.json").write_text(json.dumps({**manifest, "format_version": 9}))
    with pytest.raises(StoreError, match=r"format version 9, this BagPack reads 1; update BagPack"):
        PairMatrix.open(tmp_path / "m.bpm")
    with pytest.raises(StoreError, match="is a BagPack corpus, not a pair-matrix"):
        PairMatrix.open(store)
    with pytest.raises(StoreError, match="does not exist; make a matrix with bagpack vectors"):
        PairMatrix.open(tmp_path / "none.bpm")


def test_nothing_else_is_overwritten(matrix, tmp_path, store):
    copy = tmp_path / "store.bp"
    shutil.copytree(store, copy)
    with pytest.raises(StoreError, match="is not a matrix, so it is left alone"):
        matrix.save(copy, overwrite=True)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match="is not a matrix, so it is left alone"):
        matrix.save(tmp_path / "notes.txt", overwrite=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    matrix.save(tmp_path / "m.bpm")
    with pytest.raises(StoreError, match="exists already"):
        matrix.save(tmp_path / "m.bpm")
    (tmp_path / "m.bpm.old").mkdir()
    matrix.select([0]).save(tmp_path / "m.bpm", overwrite=True)
    assert (tmp_path / "m.bpm.old").exists(), "a copy of the user's own"
    assert len(PairMatrix.open(tmp_path / "m.bpm")) == 1


# What other tools read ----------------------------------------------------------------------------------------


def long_counts(matrix):
    names = matrix.feature_names()
    block = matrix.block().tocoo()
    return [
        (*matrix.pairs[row], names[column], int(value))
        for row, column, value in zip(block.row, block.col, block.data, strict=True)
    ]


def test_the_long_table_of_the_papers_sentence(tmp_path):
    matrix = count(make_store(tmp_path, SENTENCES[:1]), [("cat", "lion")], Basis(("only", "that"), ()))
    export(matrix, tmp_path / "x.tsv")
    assert (tmp_path / "x.tsv").read_text() == GOLDEN_TSV


def test_parquet_and_frames_hold_the_same_long_table(matrix, tmp_path):
    expected = long_counts(matrix)
    export(matrix, tmp_path / "x.parquet")
    export(matrix, tmp_path / "x.tsv")
    tables = {
        "parquet": pd.read_parquet(tmp_path / "x.parquet"),
        "tsv": pd.read_csv(tmp_path / "x.tsv", sep="\t", quoting=3),
        "pandas": to_frame(matrix, "pandas"),
        "polars": to_frame(matrix, "polars"),
    }
    assert isinstance(tables["polars"], pl.DataFrame)
    for name, table in tables.items():
        assert list(table.columns) == ["w1", "w2", "feature", "count"], name
        rows = table.rows() if name == "polars" else table.itertuples(index=False, name=None)
        assert [tuple(row) for row in rows] == expected, name
    with pytest.raises(UsageError, match="choose pandas or polars"):
        to_frame(matrix, "arrow")


def test_svmlight_is_read_back_by_scikit_learn(matrix, tmp_path):
    export(matrix, tmp_path / "x.svm")
    X, y = load_svmlight_file(str(tmp_path / "x.svm"), n_features=80, zero_based=False)
    np.testing.assert_array_equal(X.toarray(), matrix.block().toarray())
    assert (y == 0).all()
    assert (tmp_path / "x.svm").read_text().splitlines()[0].endswith("# cat lion")


def test_a_broken_export_leaves_nothing(matrix, tmp_path, monkeypatch):
    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bagpack.vectors.export.long_rows", fail)
    for name in ("x.tsv", "x.parquet"):
        with pytest.raises(StoreError, match=f"the disk is full: .*{name} could not be written"):
            export(matrix, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
