"""Kernels that another process compiles while this one compiles the others."""

import os
import signal
import subprocess
import sys
import time

import pytest

from bagpack import PairVectorizer, compiling, index_corpus, jit

TYPED = """
import os, sys, time
from bagpack.jit import typed_kernel

if os.environ.get("SLOW") and sys.argv[0] == "-c":
    open("helper", "w").write(str(os.getpid()))
    time.sleep(60)

@typed_kernel("=i8: u4:: i8")
def scale(numbers, out, by):
    for i in range(numbers.size):
        out[0, i] = numbers[i] * by
"""
FIRST_RUN = """
import os
import numpy as np
from bagpack import compiling, jit
import typed

@jit.kernel
def add(numbers):
    total = 0
    for number in numbers:
        total += number
    return total

def notice():
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(every)})
    compiling.compile_elsewhere()
    print("one core:", len(jit.elsewhere))
    os.sched_setaffinity(0, every)
    jit.uncached.append(True)
    compiling.compile_elsewhere()
    print("no cache:", len(jit.elsewhere))
    jit.uncached.clear()
    compiling.compile_elsewhere()

jit.on_compile(notice)
numbers, out = np.arange(3), np.zeros((1, 3), np.uint32)
print(add(numbers))
typed.scale(jit.read_only(numbers), out, 2)
print(out.tolist(), [sum(counted.values()) for counted in typed.scale.stats[1:]], len(jit.elsewhere))
"""

needs_two_cores = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="needs Linux and two cores",
)


@pytest.fixture
def first_run(tmp_path):
    """Start FIRST_RUN with an empty cache, in a process of its own."""
    (tmp_path / "typed.py").write_text(TYPED)
    (tmp_path / "first.py").write_text(FIRST_RUN)

    def start(**more):
        env = {
            **os.environ,
            "PYTHONPATH": str(tmp_path),
            "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
            **more,
        }
        return subprocess.Popen(
            [sys.executable, "first.py"], cwd=tmp_path, env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    return start


@needs_two_cores
def test_the_other_process_fills_the_cache_and_is_waited_for(first_run):
    """Hits and misses of the cache: the kernel was compiled, but not here. With a warm cache, nothing is started."""
    out, err = first_run().communicate(timeout=100)
    assert out.splitlines() == ["one core: 0", "no cache: 0", "3", "[[0, 2, 4]] [1, 0] 1"], err
    out, err = first_run().communicate(timeout=100)
    assert out.splitlines() == ["3", "[[0, 2, 4]] [1, 0] 0"], err


@needs_two_cores
def test_the_other_process_ends_with_the_one_that_started_it(first_run, tmp_path):
    running = first_run(SLOW="1")
    written = tmp_path / "helper"
    deadline = time.monotonic() + 60
    while not (written.exists() and written.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    helper = int(written.read_text())
    os.kill(helper, 0)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    deadline = time.monotonic() + 2
    while _is_running(helper) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_running(helper)


def _is_running(process):
    try:
        with open(f"/proc/{process}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def testtyped_kernels_are_called_with_their_types(tmp_path):
    """Else the other process compiles what nobody calls."""
    words = " ".join(map("w{}".format, range(500)))
    (tmp_path / "a.txt").write_text(f"The cat saw a lion: {words}.\n" * 30)
    corpus = index_corpus([tmp_path / "a.txt"], tmp_path / "s", jobs=1).corpus
    PairVectorizer(corpus, b=3).fit_transform([("cat", "lion")])
    assert {"intern_tokens", "find_cooccurrences"} <= {kernel.__name__ for kernel in jit.typed}
    for kernel in jit.typed:
        declared = tuple(map(compiling._numba_type, kernel.arguments.split()))
        assert declared in kernel.get().signatures, kernel.__name__
