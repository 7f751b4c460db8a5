"""A real dask scheduler and two worker processes: the same bytes as on one machine, whoever dies."""

import joblib
import numpy as np
import pytest
from scale_cluster import INDEX, PARTS, VECTORS, artefacts, until

from bagpack.backends import open_backend

pytestmark = pytest.mark.usefixtures("small_tasks")


@pytest.fixture(scope="module")
def kept():
    """What the local run left; it is made once."""
    return {}


@pytest.fixture
def local(kept, place, journey):
    if not kept:
        kept.update(journey(place("local"), "--jobs", "1"))
    return kept


def only(files, *tops):
    return {name: content for name, content in files.items() if name.split("/")[0] in tops}


def test_whole_way_gives_the_same_bytes(cluster, local, place, journey):
    cluster.workers("one", "two")
    found = journey(place("dask"), "--backend", "dask", "--address", cluster.address)
    assert found.keys() == local.keys()
    assert [name for name in found if found[name] != local[name]] == []
    assert len([name for name in found if name.endswith("shard.json")]) >= PARTS
    assert b'"limit": 40' in found["m.bpm/manifest.json"]
    assert not (cluster.place / "not-for-workers").exists()  # a worker chooses no place of its own


def test_worker_killed_while_indexing(cluster, local, place, go):
    cluster.workers("one", "two")
    here = place("killed")
    thread, held = cluster.kill_in_the_middle("one", "build_part")
    go(*INDEX, "--backend", "dask", "--address", str(cluster.file))
    thread.join(60)
    assert held
    assert artefacts(here) == only(local, "z.bp")
    cluster.workers("two")


def test_worker_killed_while_counting(cluster, local, place, go):
    cluster.workers("two", "three")
    here = place("killed")
    go(*INDEX, "--jobs", "1")
    thread, held = cluster.kill_in_the_middle("two", "_leave")
    go(*VECTORS, "--backend", "dask", "--address", cluster.address)
    thread.join(60)
    assert held
    assert artefacts(here) == only(local, "z.bp", "m.bpm")
    cluster.workers("three")


def test_joblib_context_is_enough(cluster, local, place, go):
    from distributed import Client

    from bagpack import Corpus, PairVectorizer
    from bagpack.vectors.counted import forget

    cluster.workers("three", "four")  # with a single one, joblib does the work in this process
    here = place("python")
    go(*INDEX, "--jobs", "1")
    pairs = [("w5", "w7"), ("w20", "w6")]
    corpus = Corpus.open("z.bp")
    alone = PairVectorizer(corpus, b=30).fit_transform(pairs)
    forget()
    with Client(cluster.address) as client, joblib.parallel_config("dask"):
        before = _tasks_done(client)
        together = PairVectorizer(corpus, b=30).fit_transform(pairs)
        assert _tasks_done(client) > before
    assert np.array_equal(alone.toarray(), together.toarray())
    assert sorted(path.name for path in here.iterdir() if not path.is_symlink()) == ["z.bp"]


def test_workers_that_are_all_gone_are_reported(cluster):
    cluster.workers("three", "four")
    said = []
    with open_backend("dask", cluster.address, notice=said.append):
        for process in cluster.processes.values():
            if process is not cluster.processes["scheduler"]:
                process.kill()
                process.wait()
        until(lambda: said)
    assert said == [
        f"all workers of the dask scheduler at {cluster.address} have exited; the work waits until new ones are "
        f"started (Ctrl-C stops it)"
    ]


def _tasks_done(client):
    return client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
