"""A store that version 0.1 wrote still opens, is checked, and can be added to."""

import zipfile
from pathlib import Path

import pytest
from corpus_oracle import words

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.store.corpus import Corpus

# Made by `bagpack index a.txt b.vert` at the last commit of version 0.1.
PACKED = Path(__file__).parents[1] / "data" / "store-0.1.zip"


@pytest.fixture
def store(tmp_path):
    with zipfile.ZipFile(PACKED) as packed:
        packed.extractall(tmp_path)
    return tmp_path / "store-0.1.bp"


def test_it_opens(store, cli):
    corpus = Corpus.open(store)
    assert corpus.verify() == []
    assert corpus.count("lion") == 4
    assert corpus.info()["problems"] == {"skipped_lines": 0, "ignored_markup": 0, "undecodable": 0}
    done = cli("contexts", store, "lion", "sleep")
    assert done.code == 0
    assert "lions sleep" in done.out
    assert cli("verify", store).code == 0


def test_text_is_added_to_it(store, write):
    summary = index_corpus([write("new.txt", "A lion roars.\n")], store, append=True, jobs=1)
    assert summary.corpus.count("lion") == 5
    assert summary.corpus.verify() == []
    assert words(summary.corpus)[-1] == ["A", "lion", "roars", "."]


def test_a_newer_format_is_refused_with_a_sentence(store, cli):
    manifest = store / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"format_version": 1', '"format_version": 2'))
    done = cli("info", store)
    assert done.code == 1
    assert "has format version 2, this BagPack reads 1; update BagPack" in done.err
