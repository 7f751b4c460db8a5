"""kill -9 at any point: an index or a snippet corpus is the old one or the new one, and the same command finishes."""

import shutil
from contextlib import closing

import pytest
from tests.kills import killed_at, moments_of

from bagpack.corpus.build.index import index_corpus
from bagpack.engines.base import connect
from bagpack.engines.build import build_engine
from bagpack.engines.fetch import fetch_snippets
from bagpack.engines.queries import Query
from bagpack.engines.sentences import plain
from bagpack.engines.snippets import SnippetCorpus


@pytest.fixture
def store(tmp_path):
    pytest.importorskip("tantivy")
    (tmp_path / "text.txt").write_text("A cat and a lion.\nThe lion saw a cat.\nA new cat and a dog.\n")
    index_corpus([str(tmp_path / "text.txt")], tmp_path / "store.bp")
    return str(tmp_path / "store.bp")


def texts(url):
    with closing(connect(url)) as engine:
        return [plain(s.text) for s in engine.search(Query("word", (("cat",),)), 10)]


def test_an_index_survives_a_killed_rebuild(store, tmp_path):
    url = f"tantivy:{tmp_path / 'index'}"
    (tmp_path / "old.txt").write_text("One old cat.\n")
    build_engine(url, [str(tmp_path / "old.txt")])
    old = texts(url)
    new = ["A cat and a lion.", "The lion saw a cat.", "A new cat and a dog."]

    def rebuild():
        build_engine(url, [store], overwrite=True)

    moments = moments_of(lambda: build_engine(f"{url}-other", [store]))
    outcomes = []
    for moment in [*moments, *range(max(moments) + 1, max(moments) + 9)]:  # replacing takes more steps
        killed = killed_at(moment, rebuild)
        outcomes.append(texts(url))
        assert outcomes[-1] in (old, new), f"killed at step {moment}"
        if not killed:
            break
    assert outcomes[0] == old
    rebuild()
    assert texts(url) == new
    assert sorted(path.name for path in tmp_path.glob("index*")) == ["index", "index-other"]


def files_of(path):
    return {file.relative_to(path): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_a_killed_fetch_finishes_with_the_same_bytes(store, tmp_path):
    url, out = f"tantivy:{tmp_path / 'index'}", tmp_path / "s.bps"
    build_engine(url, [store])

    def fetch():
        fetch_snippets([("cat", "lion"), ("dog", "cat")], url, out, cache=tmp_path / "cache", overwrite=True)

    fetch()
    expected = files_of(out)
    assert len(expected) > 30
    for moment in moments_of(fetch, every=12):
        shutil.rmtree(out, ignore_errors=True)
        killed_at(moment, fetch)
        fetch()
        assert SnippetCorpus.open(out).verify() == []
        assert files_of(out) == expected, f"killed at step {moment}"
    assert sorted(path.name for path in tmp_path.glob("s.bps*")) == ["s.bps"]
