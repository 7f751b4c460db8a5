"""The pair matrix: names, blocks, growing, on disk, and what other tools read."""

import json
import pickle
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from bagpack import Basis, BlockMatrix
from bagpack.artefacts import recover_replaced, seal_of
from bagpack.contexts.source import CorpusSource
from bagpack.contexts.windows import CountSettings
from bagpack.errors import BagpackError, StoreError, UsageError
from bagpack.files import digest_file
from bagpack.names import feature_names
from bagpack.vectors.export import export, to_frame
from bagpack.vectors.storage import ARRAYS, verify_matrix
from tests.contexts.stores import make_store
from tests.kills import killed_at
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
    return BlockMatrix.count(CorpusSource(corpus), pairs, basis, CountSettings(**settings))


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


def test_blocks_share_rows_and_make_up_the_columns(matrix):
    assert list(matrix.blocks) == ["v1", "v2", "v12"]
    assert matrix.blocks["v1"].rows is matrix.blocks["v2"].rows
    expanded = [block.expanded().toarray() for block in matrix.blocks.values()]
    np.testing.assert_array_equal(matrix.toarray(), np.hstack(expanded))
    assert matrix.shape == (7, 80) and len(matrix.feature_names()) == 80


def test_selected_rows_keep_the_blocks_and_other_results_are_ordinary(matrix):
    dense = matrix.toarray()
    for rows in ([3, 1], slice(2, 5), np.arange(7) > 4, (np.array([0, 6]), slice(None)), ([1], ...)):
        picked = matrix[rows]
        assert isinstance(picked, BlockMatrix) and picked.tables is matrix.tables
        key = rows[0] if isinstance(rows, tuple) else rows
        np.testing.assert_array_equal(picked.toarray(), dense[key])
        np.testing.assert_array_equal(picked.seen, matrix.seen[key])
    for made in (
        matrix * 2,
        matrix.copy(),
        matrix[:, [1, 2]],
        abs(matrix),
        matrix.astype(float),
        matrix.tocsr(copy=True),
    ):
        assert type(made) is sparse.csr_array
    assert matrix.tocsr() is matrix  # scikit-learn's cross-validation calls it, and would lose the blocks
    np.testing.assert_array_equal(matrix[:, [1, 2]].toarray(), dense[:, [1, 2]])
    assert matrix[3].toarray().tolist() == dense[3].tolist()
    with pytest.raises(ValueError, match="read-only"):
        matrix.data[0] = 5
    with pytest.raises(AttributeError):
        matrix.data = dense


def test_equality_and_pickling(corpus, matrix, tmp_path):
    again = pickle.loads(pickle.dumps(matrix))
    assert matrix.equals(again) and (matrix != again).nnz == 0
    assert (
        not matrix.equals(matrix[:3]) and not matrix.equals(matrix.block("v12")) and not matrix.equals(None)
    )
    assert not matrix.equals(count(corpus, PAIRS, Basis.of(corpus, 4), limit=2))
    matrix.save(tmp_path / "m.bpm")
    assert BlockMatrix.open(tmp_path / "m.bpm").equals(matrix)


def test_scikit_learn_takes_it_as_it_is(matrix):
    y = [0, 1, 0, 1, 1, 0, 0]
    for estimator in (
        LinearSVC(),
        MultinomialNB(),
        SGDClassifier(),
        KNeighborsClassifier(2),
        LogisticRegression(),
    ):
        assert estimator.fit(matrix, y).predict(matrix[[2, 3]]).shape == (2,)
    assert TruncatedSVD(2).fit_transform(matrix).shape == (7, 2)
    assert len(cross_val_score(LinearSVC(), matrix, y, cv=2, error_score="raise")) == 2


def test_columns_that_are_not_there_are_an_error(matrix):
    with pytest.raises(UsageError, match="has the blocks v12, and not v1"):
        matrix.block("v12").block("v1v2")


def test_counts_made_elsewhere_must_fit():
    words, pairs = sparse.csr_array(np.eye(4, dtype=int)), sparse.csr_array(np.ones((2, 12), int))
    with pytest.raises(UsageError, match="2 and 6 per basis term"):
        BlockMatrix.from_counts(words, [0, 1], [1, 2], pairs[:, :-1])
    with pytest.raises(UsageError, match="for each of the 2 pairs"):
        BlockMatrix.from_counts(words, [0, 9], [1, 2], pairs)
    with pytest.raises(UsageError, match="for each of the 2 pairs"):
        BlockMatrix.from_counts(words, [0], [1], pairs)


def test_zero_rows_by_block():
    words = sparse.csr_array(np.array([[1, 0], [0, 0]]))
    pairs = sparse.csr_array(np.array([[0] * 6, [0] * 6, [1] + [0] * 5]))
    X = BlockMatrix.from_counts(words, [0, 1, 1], [1, 1, 1], pairs)
    assert X.zero_rows(("v1", "v2")).tolist() == [False, True, True]
    assert X.zero_rows(("v12",)).tolist() == [True, True, False]
    assert X.zero_rows().tolist() == [False, True, False]


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
    opened = BlockMatrix.open(tmp_path / "m.bpm")
    assert_equal(opened, matrix)
    assert isinstance(opened.words.rows.data.base, np.memmap | np.ndarray)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.bpm"]
    opened.save(tmp_path / "again.bpm")
    for file in (tmp_path / "m.bpm").iterdir():
        assert (tmp_path / "again.bpm" / file.name).read_bytes() == file.read_bytes()


def test_an_empty_matrix_can_be_kept_too(corpus, tmp_path):
    matrix = count(corpus, [], Basis.of(corpus, 4))
    matrix.save(tmp_path / "m.bpm")
    assert_equal(BlockMatrix.open(tmp_path / "m.bpm"), matrix)
    unknown = count(corpus, [("unicorn", "gryphon")], Basis.of(corpus, 4))
    assert unknown.block().shape == (1, 80)
    unknown.save(tmp_path / "u.bpm")
    assert_equal(BlockMatrix.open(tmp_path / "u.bpm"), unknown)


def test_opening_does_not_depend_on_the_number_of_pairs(corpus, tmp_path):
    words = [f"x{i}" for i in range(1000)]
    pairs = [(words[i % 1000], words[i * 7 % 1000]) for i in range(100_000)]
    count(corpus, pairs, Basis.of(corpus, 4)).save(tmp_path / "m.bpm")
    BlockMatrix.open(tmp_path / "m.bpm")
    begin = time.process_time()
    matrix = BlockMatrix.open(tmp_path / "m.bpm")
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
        with pytest.raises(BagpackError) as error:
            BlockMatrix.open(path)
        assert str(path) in str(error.value)


FORGED = {
    "words.indices": lambda a: np.where(np.arange(a.size) == 3, 10**6, a),
    "pairs.indices": lambda a: np.where(np.arange(a.size) == 1, -5, a),
    "words.indptr": lambda a: np.where(np.arange(a.size) == 1, 10**9, a),
    "pairs.indptr": lambda a: a[::-1].copy(),
    "names.target": lambda a: a + 10**6,
    "rows": lambda a: a + 10**6,
    "pairs.targets": lambda a: a - 10**6,
    "names.offsets": lambda a: a * 7,
    "targets.offsets": lambda a: np.where(np.arange(a.size) == 1, 10**12, a),
    "words.data": lambda a: -a,
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_matrix_is_refused_before_any_kernel_sees_it(matrix, tmp_path, name):
    path = tmp_path / "m.bpm"
    matrix.save(path)
    declared = ARRAYS[name]
    values = np.fromfile(path / name, declared.dtype)
    (path / name).write_bytes(FORGED[name](values).astype(declared.dtype).tobytes())
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["checksums"][name] = digest_file(path / name)
    (path / "manifest.json").write_text(json.dumps({**manifest, "seal": seal_of(manifest)}))
    with pytest.raises(StoreError, match="the matrix is damaged: restore the file, or count the pairs again"):
        BlockMatrix.open(path)
    assert verify_matrix(path)


def test_verify_finds_every_flipped_bit(matrix, tmp_path):
    path = tmp_path / "m.bpm"
    matrix.save(path)
    assert list(verify_matrix(path)) == []
    rng = np.random.default_rng(0)
    for file in sorted(path.iterdir()):
        whole = file.read_bytes()
        for at in rng.integers(0, len(whole), 5).tolist():
            damaged = bytearray(whole)
            damaged[at] ^= 1 << int(rng.integers(8))
            file.write_bytes(bytes(damaged))
            try:
                found = list(verify_matrix(path))
            except BagpackError as error:
                found = [str(error)]
            assert found, (file.name, at)
            with suppress(BagpackError):  # opening may refuse it or not, but must not crash
                BlockMatrix.open(path).toarray()
        file.write_bytes(whole)


@pytest.mark.parametrize("lacking", ["seal", "checksums", "words", "source"])
def test_a_manifest_that_lacks_an_entry_is_refused(matrix, tmp_path, lacking):
    path = tmp_path / "m.bpm"
    matrix.save(path)
    manifest = json.loads((path / "manifest.json").read_text())
    del manifest[lacking]
    sealed = {**manifest, "seal": seal_of(manifest)} if lacking != "seal" else manifest
    (path / "manifest.json").write_text(json.dumps(sealed))
    with pytest.raises(StoreError, match=r"manifest\.json lacks entries"):
        BlockMatrix.open(path)


def test_a_matrix_of_an_earlier_version_opens(matrix, tmp_path):
    path = tmp_path / "m.bpm"
    matrix.save(path)
    (path / "pairs.gaps").write_bytes(bytes(96))  # which 0.9 wrote
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["checksums"]["pairs.gaps"] = digest_file(path / "pairs.gaps")
    (path / "manifest.json").write_text(json.dumps({**manifest, "seal": seal_of(manifest)}))
    assert BlockMatrix.open(path).equals(matrix)
    assert list(verify_matrix(path)) == []


def test_saving_leaves_the_users_own_files_alone(matrix, tmp_path):
    (tmp_path / "m.bpm.new").mkdir()
    (tmp_path / "m.bpm.new" / "thesis.txt").write_text("mine")
    matrix.save(tmp_path / "m.bpm")
    matrix.save(tmp_path / "m.bpm", overwrite=True)
    assert (tmp_path / "m.bpm.new" / "thesis.txt").read_text() == "mine"


def test_a_matrix_of_another_version_or_kind(matrix, tmp_path, store):
    matrix.save(tmp_path / "m.bpm")
    manifest = json.loads((tmp_path / "m.bpm" / "manifest.json").read_text())
    (tmp_path / "m.bpm" / "manifest.json").write_text(json.dumps({**manifest, "format_version": 9}))
    with pytest.raises(StoreError, match=r"format version 9, this BagPack reads 1; update BagPack"):
        BlockMatrix.open(tmp_path / "m.bpm")
    with pytest.raises(StoreError, match="is a BagPack corpus, not a pair-matrix"):
        BlockMatrix.open(store)
    with pytest.raises(StoreError, match="does not exist; make a matrix with bagpack vectors"):
        BlockMatrix.open(tmp_path / "none.bpm")


def test_nothing_else_is_overwritten(matrix, tmp_path, store):
    copy = tmp_path / "store.bp"
    shutil.copytree(store, copy)
    with pytest.raises(StoreError, match="is not a BagPack matrix, so it is not replaced"):
        matrix.save(copy, overwrite=True)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match="is not a BagPack matrix, so it is not replaced"):
        matrix.save(tmp_path / "notes.txt", overwrite=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    matrix.save(tmp_path / "m.bpm")
    with pytest.raises(StoreError, match="exists already"):
        matrix.save(tmp_path / "m.bpm")
    (tmp_path / "m.bpm.old").mkdir()
    matrix.select([0]).save(tmp_path / "m.bpm", overwrite=True)
    assert (tmp_path / "m.bpm.old").exists(), "a copy of the user's own"
    assert len(BlockMatrix.open(tmp_path / "m.bpm")) == 1


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
    alone = to_frame(matrix.block("v12"), "pandas").itertuples(index=False, name=None)
    assert [*map(tuple, alone)] == [row for row in expected if row[2].startswith("v12:")]
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


@pytest.mark.costly
@pytest.mark.parametrize("can_exchange", [True, False])
def test_an_append_that_is_killed_at_any_step(matrix, corpus, tmp_path, monkeypatch, can_exchange):
    if not can_exchange:
        monkeypatch.setattr("bagpack.artefacts.exchange", lambda first, second: False)
    path = tmp_path / "m"
    source = CorpusSource(corpus)
    grown = [*PAIRS, ("dog", "cat")]
    seen = set()
    for step in range(1, 200):
        matrix.save(path, overwrite=True)
        died = killed_at(
            step, lambda: BlockMatrix.open(path).grow(source, grown[-1:], 1).save(path, overwrite=True)
        )
        recover_replaced(path)
        found = BlockMatrix.open(path)
        assert verify_matrix(path) == []
        assert list(found.pairs) in (PAIRS, grown)
        seen.add(len(found))
        if not died:
            break
    assert step > 20
    assert seen == {len(PAIRS), len(grown)}
    assert [entry.name for entry in tmp_path.iterdir()] == ["m"]


APPEND = """
import sys, time
from bagpack import Corpus
from bagpack.contexts.source import CorpusSource
from bagpack.errors import StoreError
from bagpack.vectors.storage import append_to_matrix

source = CorpusSource(Corpus.open(sys.argv[1]))
for pair in sys.argv[3:]:
    while True:
        try:
            append_to_matrix(sys.argv[2], source, [tuple(pair.split(","))], 1)
            break
        except StoreError as error:
            assert "another bagpack command is working" in str(error), error
            time.sleep(0.002)
"""


@pytest.mark.costly
def test_appends_at_the_same_time(matrix, corpus, tmp_path):
    matrix.save(tmp_path / "m")
    words = ["cat", "dog", "lion", "hammer"]
    wanted = [[f"{one},{two}" for two in words] for one in words[:3]]
    running = [
        subprocess.Popen([sys.executable, "-c", APPEND, corpus.path, tmp_path / "m", *pairs])
        for pairs in wanted
    ]
    while any(process.poll() is None for process in running):
        assert verify_matrix(tmp_path / "m") == []  # never half replaced
        assert list(BlockMatrix.open(tmp_path / "m").pairs[: len(PAIRS)]) == PAIRS
        time.sleep(0.01)
    assert [process.wait() for process in running] == [0] * 3
    found = BlockMatrix.open(tmp_path / "m")
    added = [",".join(pair) for pair in found.pairs[len(PAIRS) :]]
    assert sorted(added) == sorted(pair for pairs in wanted for pair in pairs)
    assert [entry.name for entry in tmp_path.iterdir()] == ["m"]


def test_counts_beyond_32_bits_are_not_cut_off(matrix, tmp_path):
    large = matrix.tables.words.rows.copy().astype(np.int64)
    large.data[0] = 1 << 31
    tables = replace(matrix.tables, words=replace(matrix.tables.words, rows=large))
    with pytest.raises(UsageError, match="a count of 2,147,483,648 does not fit into the matrix format"):
        BlockMatrix.make(tables, matrix.rows).save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_someone_else_in_a_matrix(matrix, tmp_path):
    matrix.save(tmp_path / "m")
    (tmp_path / "m" / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"notes\.txt is not a file of the matrix .*; move it elsewhere"):
        matrix.save(tmp_path / "m", overwrite=True)
    assert (tmp_path / "m" / "notes.txt").read_text() == "mine"
