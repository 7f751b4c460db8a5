"""kill -9 at any point: an index or a snippet corpus is the old one or the new one, and the same command finishes."""

import os
import shutil
import signal
import sys
import time

import pytest

from bagpack.corpus.build.index import index_corpus
from bagpack.engines.base import connect
from bagpack.engines.build import build_engine
from bagpack.engines.fetch.cache import AnswerCache
from bagpack.engines.queries import Query
from bagpack.engines.snippets.corpus import SnippetCorpus
from bagpack.engines.snippets.fetching import fetch_snippets
from bagpack.engines.words import plain

WATCHED = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "shutil.rmtree", "ctypes.dlsym",
           "sqlite3.connect", "answer"}  # fmt: skip
POINTS = 20


def run_in_child(action, kill_at=None):
    """Run in a forked process that is killed at the n-th file operation; the number of operations if it was not."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        seen = 0

        def hook(event, arguments):
            nonlocal seen
            if event in WATCHED:
                seen += 1
                if seen == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        status = 1
        try:
            action()
            os.write(write, str(seen).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    deadline = time.monotonic() + 20  # a fork of a process with threads may hang; it counts as killed
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.005)
    with os.fdopen(read) as pipe:
        found = pipe.read()
    return int(found) if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 else None


def points(count):
    return sorted({1 + at * (count - 1) // (POINTS - 1) for at in range(POINTS)})


@pytest.fixture
def store(tmp_path):
    (tmp_path / "text.txt").write_text("A cat and a lion.\nThe lion saw a cat.\nA new cat and a dog.\n")
    index_corpus([str(tmp_path / "text.txt")], tmp_path / "store.bp", jobs=1)
    return str(tmp_path / "store.bp")


def texts(url):
    engine = connect(url)
    try:
        return [plain(s.text) for s in engine.search(Query("word", (("cat",),)), 10)]
    finally:
        engine.close()


@pytest.mark.parametrize("engine", ["tantivy", "infinigram"])
def test_an_index_survives_a_killed_rebuild(engine, store, tmp_path):
    pytest.importorskip("tantivy" if engine == "tantivy" else "infini_gram")
    url = f"{engine}:{tmp_path / 'index'}"
    (tmp_path / "old.txt").write_text("One old cat.\n")
    build_engine(url, [str(tmp_path / "old.txt")], jobs=1)
    old = texts(url)
    new = ["A cat and a lion.", "The lion saw a cat.", "A new cat and a dog."]
    count = run_in_child(lambda: build_engine(f"{url}-other", [store], jobs=1))
    outcomes = []
    for point in points(count + 10):  # replacing takes more operations than building
        killed = run_in_child(lambda: build_engine(url, [store], jobs=1, overwrite=True), point)
        outcomes.append(texts(url))
        assert outcomes[-1] in (old, new), f"killed at operation {point}"
        if killed is not None:
            break
    assert outcomes[0] == old
    build_engine(url, [store], jobs=1, overwrite=True)
    assert texts(url) == new
    assert sorted(path.name for path in tmp_path.glob("index*")) == ["index", "index-other"]


def files_of(path):
    return {file.relative_to(path): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_a_killed_fetch_finishes_with_the_same_bytes(store, tmp_path, monkeypatch):
    url = f"tantivy:{tmp_path / 'index'}"
    build_engine(url, [store], jobs=1)
    out, cache = tmp_path / "s.bps", tmp_path / "cache"
    put = AnswerCache.put

    def watched_put(self, *arguments):
        sys.audit("answer")
        return put(self, *arguments)

    monkeypatch.setattr(AnswerCache, "put", watched_put)

    def fetch():
        return fetch_snippets([("cat", "lion"), ("dog", "cat")], url, out, cache=cache, jobs=1)

    def clear():
        shutil.rmtree(out)
        for file in tmp_path.glob("cache*"):
            file.unlink()

    fetch()
    expected = files_of(out)
    assert len(expected) > 30
    clear()
    count = run_in_child(fetch)
    for point in points(count):
        clear()
        assert run_in_child(fetch, point) is None
        fetch()
        assert SnippetCorpus.open(out).verify() == []
        assert files_of(out) == expected, f"killed at operation {point} of {count}"
