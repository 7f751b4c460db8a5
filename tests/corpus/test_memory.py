"""Peak memory of all processes of a build, against the bound and the formula of docs/formats.md."""

import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest

from bagpack.corpus.build.worker import WORKER_BASE, WORKER_TOKEN

SCRIPT = """
import sys
from bagpack.corpus.build.index import index_corpus
index_corpus([sys.argv[1]], sys.argv[2], jobs=2, memory=2 << 30, part_bytes=24 << 20)
"""


def peak(command):
    """Largest sum of the resident memory of a process and its children, and the largest single one."""
    run = subprocess.Popen(command)
    top = psutil.Process(run.pid)
    total = single = 0
    while run.poll() is None:
        with suppress(psutil.NoSuchProcess):
            sizes = [process.memory_info().rss for process in [top, *top.children(recursive=True)]]
            total, single = max(total, sum(sizes)), max(single, *sizes)
        time.sleep(0.05)
    assert run.wait() == 0
    return total, single


@pytest.mark.parametrize("name", ["a.txt", "a.vert"])
def test_workers_stay_within_what_the_bound_reckons_with(name, tmp_path):
    line = "".join(f"Lion {i * 7919 % 4001} sleeps under tree {i % 89} of them. " for i in range(200))
    if name == "a.vert":
        line = "<s>\n" + "".join(f"{word}\tXX\t{word.lower()}\n" for word in line.split()) + "</s>"
    data = (line + "\n").encode()
    (tmp_path / name).write_bytes(data * ((60 << 20) // len(data)))
    total, single = peak([sys.executable, "-c", SCRIPT, tmp_path / name, tmp_path / "s"])
    # Of the largest shard: words here have four letters and a blank at least.
    tokens = 24 * 1.5 * (1 << 20) / 4
    assert single < WORKER_BASE + WORKER_TOKEN * tokens
    assert total < 2 << 30
