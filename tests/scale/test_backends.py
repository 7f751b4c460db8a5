"""Where work is done: settings, engines that are missing or out of reach, and what workers hand over."""

import os
import pickle
import sys
import threading
from contextlib import closing, nullcontext

import joblib
import numpy as np
import pytest
from scale_cluster import Cluster

from bagpack import Corpus, index_corpus, parallel
from bagpack.errors import UsageError
from bagpack.parallel import open_backend


@pytest.mark.parametrize("name, module", [("dask", "distributed"), ("ray", "ray"), ("spark", "pyspark.sql")])
def test_missing_extra_is_named(monkeypatch, name, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=rf"pip install 'bagpack\[{name}\]'"), open_backend(name):
        pass


def test_scheduler_out_of_reach(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "TIMEOUT", 0.5)
    for address in ("tcp://127.0.0.1:1", f"{tmp_path}/none.json"):
        said = cli("basis", tmp_path, "--backend", "dask", "--address", address).sentence()
        assert f"dask does not answer at {address}" in said


def test_scheduler_without_workers(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(parallel, "TIMEOUT", 0.5)
    lonely = Cluster(tmp_path)
    lost = pytest.raises(parallel.WorkerError, match=r"has no worker \(.* 0.5\); start its")
    with closing(lonely), lost, open_backend("dask", lonely.address):
        pass


def test_a_scheduler_that_dies_is_reported_wherever_it_is_noticed(monkeypatch):
    """joblib may notice it before any task is sent, and the client when it is closed."""
    comm = pytest.importorskip("distributed.comm")
    monkeypatch.setattr("bagpack.parallel._dask", lambda *arguments: None)
    monkeypatch.setattr(joblib, "parallel_config", lambda *arguments, **settings: nullcontext())
    lost = pytest.raises(parallel.WorkerError, match="the connection to the scheduler was lost")
    with lost, open_backend("dask", "tcp://127.0.0.1:1"):
        raise comm.CommClosedError("ConnectionPool closing.")


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
    with pytest.raises(parallel.WorkerError, match="a worker process was killed"):
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


# Jobs and progress are settings of a context: read where work is spread, and at their defaults inside of a task


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
