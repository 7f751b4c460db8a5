"""Jobs and progress are settings of a context: read where work is spread, and at their defaults inside of a task."""

import os
import threading

from bagpack import parallel


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
