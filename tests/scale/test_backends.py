"""Where work is done: settings, engines that are missing, what workers hand over, and signals that end them."""

import gzip
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading

import numpy as np
import psutil
import pytest
from test_clusters import until
from tests.conftest import LIMIT, bagpack_command, wait_for

from bagpack import Corpus, index_corpus, parallel
from bagpack.errors import UsageError
from bagpack.parallel import open_backend


@pytest.mark.parametrize("name, module", [("dask", "distributed"), ("ray", "ray"), ("spark", "pyspark.sql")])
def test_missing_extra_is_named(monkeypatch, name, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=rf"pip install 'bagpack\[{name}\]'"), open_backend(name):
        pass


def squares(first, count):
    numbers = np.arange(first, first + count)
    return int(numbers.sum()), (numbers, numbers**2)


@pytest.mark.parametrize("jobs", [1, 2])
def test_arrays_come_back_in_order(tmp_path, monkeypatch, jobs):
    calls = [(first, 3) for first in range(0, 12, 3)]
    done = []
    monkeypatch.setenv(parallel.SCRATCH, str(tmp_path))
    with parallel.settings(n_jobs=jobs), parallel.gather(squares, calls, tmp_path, done.append) as left:
        assert len(list(tmp_path.glob(".bagpack-*/*"))) == (4 if jobs > 1 else 0)
        taken = [task.take() for task in left]
        assert not list(tmp_path.glob(".bagpack-*/*"))  # each file goes when it has been read
    assert [task.facts for task in left] == [3, 12, 21, 30]
    assert np.concatenate([arrays[1] for arrays in taken]).tolist() == [n * n for n in range(12)]
    assert done == [0, 1, 2, 3]
    assert not list(tmp_path.iterdir())


def test_lost_worker_is_told():
    with pytest.raises(parallel.WorkerError, match=r"was killed, .*give fewer --jobs, .*--resume"):
        list(parallel.run((parallel.delayed(os._exit)(1) for _ in range(2)), 2))


def test_many_segments_do_not_all_stay_open(write, tmp_path, monkeypatch):
    monkeypatch.setattr("bagpack.corpus.corpus.OPEN_SEGMENTS", 2)
    text = "".join(f"The lion met cat {number}.\n\n" for number in range(400))
    index_corpus([str(write("a.txt", text))], tmp_path / "a.bp", jobs=1, part_bytes=1000)
    segments = Corpus.open(tmp_path / "a.bp").segments
    assert len(segments) > 4
    assert segments[0] is segments[0]
    first = segments[0]
    names = [[segment.directory.name for segment in own] for own in (segments, segments[:])]
    assert names[0] == names[1]
    assert segments[0] is not first
    assert pickle.loads(pickle.dumps(segments)).directories == segments.directories


def seen(_=None):
    """What a task sees of the settings, and where it runs."""
    inner = list(parallel.run(parallel.delayed(where)() for _ in range(2)))
    return parallel.jobs(), parallel.progress() is parallel.no_progress, where(), set(inner)


def where():
    return os.getpid(), threading.get_ident()


def test_settings_nest_and_end():
    assert parallel.jobs() is None
    with parallel.settings(n_jobs=3):
        with parallel.settings(progress=print):
            assert (parallel.jobs(), parallel.progress()) == (3, print)
            with parallel.settings(n_jobs=2):
                assert (parallel.worker_count(), parallel.progress()) == (2, print)
        assert parallel.worker_count() == 3
        parallel.progress()("words", 1, 2)  # without a callback nothing happens
    assert parallel.jobs() is None


def test_tasks_start_no_further_workers():
    tasks = [parallel.delayed(seen)(n) for n in range(4)]
    with parallel.settings(n_jobs=2, progress=print):
        apart = list(parallel.run(tasks))
        found = parallel.run_threads(tasks)
        with parallel.on_threads():
            found += list(parallel.run(tasks))
        found += list(parallel.run(tasks[:1], 1))  # in this thread
        assert parallel.worker_count() == 2
    assert os.getpid() not in {one[2][0] for one in apart}
    assert {one[:2] for one in [*apart, *found]} == {(1, True)}
    assert all(one[3] == {one[2]} for one in [*apart, *found])


WORKERS = """
from bagpack import parallel, signals
signals.end_on_signals()
work = "import os, pathlib, time; pathlib.Path(where, str(os.getpid())).touch(); time.sleep(6000)"
with parallel.scratch() as place:
    print(place, flush=True)
    list(parallel.run((parallel.delayed(exec)(work, {"where": str(place)}) for _ in range(2)), 2))
"""
CTRL_C = """
import signal
from bagpack import parallel
ask = parallel.delayed(signal.pthread_sigmask)(signal.SIG_BLOCK, [])
print(*(signal.SIGINT in blocked for blocked in parallel.run((ask for _ in range(2)), 2)))
"""
BUILD = """
import sys
from bagpack import signals
from bagpack import index_corpus
signals.end_on_signals()
out, *sources = sys.argv[1:]
try:
    index_corpus(sources, out, jobs=2, part_bytes=100_000, overwrite=True)  # a part may be finished, and kept
except KeyboardInterrupt:
    sys.exit(signals.exit_code(130))
"""
LATE = """
import ctypes, os
import numba
from bagpack import signals
libc = ctypes.CDLL(None)
send, read = getattr(libc, "raise"), libc.read
send.argtypes, read.argtypes = [ctypes.c_int], [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
@numba.njit(nogil=True)
def wait(file, place):
    send(15)
    return read(file, place, 1)
signals.end_on_signals()
try:
    wait(os.pipe()[0], ctypes.addressof(ctypes.create_string_buffer(1)))
except KeyboardInterrupt:
    print("seen")
"""


@pytest.fixture(autouse=True)
def hang_up():
    """SIGHUP ends processes, also where the tests were started with nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def started(script, *more, **options):
    process = subprocess.Popen(
        [sys.executable, "-c", script, *more], stdout=subprocess.PIPE, text=True, **options
    )
    return process, process.stdout.readline().strip()


def test_workers_never_see_ctrl_c():
    """One that is interrupted between two tasks would print a traceback of its own."""
    process, said = started(CTRL_C)
    assert process.wait(LIMIT) == 0
    assert said == "True True"


def test_a_signal_just_before_a_wait_is_not_lost():
    """Python sees it when it is back from the system, which here waits for a byte that never comes."""
    process, said = started(LATE)
    assert (process.wait(LIMIT), said) == (0, "seen")


def workers_in(place, parent):
    """The worker processes, when both have begun their tasks."""
    wait_for(lambda: len(os.listdir(place)) == 2, parent)
    return [psutil.Process(int(name)) for name in os.listdir(place)]


def has_ended(process):
    """Whether it has ended, also if the init process of a container has not noticed yet."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_parent(how):
    process, place = started(WORKERS)
    workers = workers_in(place, process)
    process.send_signal(how)
    process.wait(LIMIT)
    until(lambda: all(map(has_ended, workers)))
    assert os.path.exists(place) == (how == signal.SIGKILL)
    shutil.rmtree(place, ignore_errors=True)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_asked_to_end(how, tmp_path):
    """Waiting for standard input, with a directory begun."""
    command = bagpack_command("index", "-", "--out", tmp_path / "s")
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for((tmp_path / "s" / "work" / "stdin.new").exists, process)
    process.send_signal(how)
    assert process.wait(LIMIT) == 128 + how
    said = process.stderr.read().decode()
    assert said.startswith("bagpack: interrupted")
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_a_build_in_threads_that_is_asked_to_end(tmp_path):
    """Two files that take many seconds, each read in a thread of its own; afterwards the same path can be written."""
    block = gzip.compress((b"<s>\n" + b"lion\tN\tlion\n" * 100 + b"</s>\n") * 2_000)
    sources = [tmp_path / "a.vert.gz", tmp_path / "b.vert.gz"]
    for source in sources:
        source.write_bytes(block * 100)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-c", BUILD, tmp_path / "s", *sources]
    process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(scratch)})
    try:
        # Both are being read.
        wait_for(lambda: len(list((tmp_path / "s").glob("work/progress/*"))) == 2, process)
        assert not psutil.Process(process.pid).children()
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT) == 128 + signal.SIGTERM
    finally:
        process.kill()
    assert list(scratch.iterdir()) == []
    for source in sources:
        source.write_bytes(block)
    subprocess.run(command, timeout=LIMIT, check=True)
    assert Corpus.open(tmp_path / "s").tokens == 2 * 200_000
    assert sorted(tmp_path.iterdir()) == [*sources, tmp_path / "s", scratch]
