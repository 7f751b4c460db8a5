"""A shard is closed in time, whatever the input: its size bounds the memory of a worker and of every reader."""

import gzip
import json

import pytest

from bagpack.corpus.build import worker
from bagpack.corpus.build.index import index_corpus

TEXT = "".join(f"Lion number {n % 97} sleeps.\n" for n in range(4000))
VERTICAL = "".join(f"<s>\nlion{n % 97}\tN\tlion\nsleeps\tV\tsleep\n</s>\n" for n in range(4000))
JSONL = "".join(json.dumps({"text": line}) + "\n" for line in TEXT.splitlines())
INPUT = {"a.txt.gz": TEXT, "a.vert.gz": VERTICAL, "a.jsonl.gz": JSONL}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """A shard is closed between two blocks."""
    for name in ("bagpack.corpus.readers.files.BLOCK", "bagpack.corpus.build.tokens.TEXT_BATCH"):
        monkeypatch.setattr(name, 2048, raising=False)


def sizes(tmp_path, **options):
    corpus = index_corpus(
        [str(path) for path in tmp_path.glob("a.*")], tmp_path / "s", jobs=1, **options
    ).corpus
    return [entry["tokens"] for entry in corpus.manifest["segments"]], corpus


@pytest.mark.parametrize("name", INPUT)
def test_by_bytes(name, tmp_path):
    """A compressed file cannot be sliced, so the reader of it closes the shards."""
    (tmp_path / name).write_bytes(gzip.compress(INPUT[name].encode()))
    tokens, corpus = sizes(tmp_path, part_bytes=16_000)
    whole = len(INPUT[name].encode())
    assert len(tokens) >= whole / (1.5 * 16_000 + 4096) - 1
    assert max(tokens) < 2.5 * corpus.tokens * 16_000 / whole
    assert all(shard.document_lengths.all() for shard in corpus.shards), "no document without a token"


@pytest.mark.parametrize("name", INPUT)
def test_by_tokens(name, tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "SEGMENT_TOKENS", 1000)
    monkeypatch.setattr(worker, "TEXT_BATCH", 4096)  # a shard is closed between batches
    (tmp_path / name).write_bytes(gzip.compress(INPUT[name].encode()))
    tokens, corpus = sizes(tmp_path)
    assert corpus.tokens > 7000
    assert max(tokens) < 3000
