"""`bagpack plan` against what indexing then does: tokens, disk, memory and time."""

import gzip

import pytest

from bagpack.corpus.build.estimate import estimate
from bagpack.corpus.build.index import DEFAULT_MEMORY, index_corpus
from bagpack.corpus.build.parts import WORKER_BASE, WORKER_TOKEN
from bagpack.corpus.options import TextOptions

LINES = [
    f"Lion number {n % 997} sleeps near tree {n % 89}. It dreams of {n % 31} cats.\n" for n in range(40_000)
]
VERTICAL = "".join(f"<s>\nlion{n % 997}\tN\tlion\nsleeps\tV\tsleep\n</s>\n" for n in range(40_000))


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.vert"])
def test_the_estimate_is_of_the_right_size(name, tmp_path):
    content = (VERTICAL if name.startswith("a.vert") else "".join(LINES)).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    guessed = estimate([str(tmp_path / name)], TextOptions(), 1, DEFAULT_MEMORY)
    made = index_corpus([str(tmp_path / name)], tmp_path / "s", jobs=1)
    facts = made.corpus.info()
    assert guessed["tokens"] == pytest.approx(facts["tokens"], rel=0.2)
    assert guessed["disk_bytes"] == pytest.approx(facts["bytes"], rel=0.3)
    # Time depends on what else the machine does, and start-up is a constant.
    assert 0.1 < guessed["seconds"] / (made.seconds + 2.5) < 10
    assert WORKER_BASE < guessed["memory_bytes"] <= WORKER_BASE + 3 * WORKER_TOKEN * facts["tokens"]
