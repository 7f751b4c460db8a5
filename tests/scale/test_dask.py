"""A real dask scheduler and two worker processes: the same bytes as on one machine, whoever dies."""

import os
import re
import shutil
from contextlib import closing

import joblib
import numpy as np
import pytest
from scale_cluster import INDEX, PARTS, VECTORS, Cluster, artefacts
from tests.conftest import LIMIT

from bagpack import Corpus, PairVectorizer
from bagpack.vectors.counts import forget

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
    assert len([name for name in found if name.endswith("segment.json")]) >= PARTS
    assert b'"limit": 40' in found["m.bpm/manifest.json"]
    assert not (cluster.place / "not-for-workers").exists()  # a worker chooses no place of its own


@pytest.mark.parametrize(
    ("command", "victim", "other", "made"),
    [(INDEX, "one", "two", ("z.bp",)), (VECTORS, "two", "three", ("z.bp", "m.bpm"))],
)
def test_a_worker_is_killed(command, victim, other, made, cluster, local, place, go):
    """While indexing and while counting; the scheduler is named by its file and by its address."""
    cluster.workers(victim, other)
    here = place("killed")
    if command is VECTORS:
        go(*INDEX, "--jobs", "1")
    thread, held = cluster.kill_in_the_middle(victim)
    address = cluster.address if command is VECTORS else str(cluster.file)
    go(*command, "--backend", "dask", "--address", address)
    thread.join(LIMIT)
    assert held
    assert artefacts(here) == only(local, *made)
    cluster.workers(other)


def test_joblib_context_is_enough(cluster, place, go):
    cluster.workers("three", "four")  # with a single one, joblib does the work in this process
    here = place("python")
    go(*INDEX, "--jobs", "1")
    pairs = [("w5", "w7"), ("w20", "w6")]
    corpus = Corpus.open("z.bp")
    alone = PairVectorizer(corpus, b=30).fit_transform(pairs)
    forget()
    with cluster.client() as client, client.as_current(), joblib.parallel_config("dask"):
        before = _tasks_done(client)
        together = PairVectorizer(corpus, b=30).fit_transform(pairs)
        assert _tasks_done(client) > before
    assert np.array_equal(alone.toarray(), together.toarray())
    assert sorted(path.name for path in here.iterdir() if not path.is_symlink()) == ["z.bp"]


def test_a_scheduler_that_dies(local, place, cli, go, tmp_path):
    """One sentence; `--resume` works at once, although workers may still be writing."""
    here = place("died")
    with closing(Cluster(tmp_path).workers("one", "two")) as dying:
        thread, held = dying.kill_in_the_middle("one", of="scheduler")
        done = cli(*INDEX, "--backend", "dask", "--address", dying.address)
        thread.join(LIMIT)
        assert held
        assert "the connection to the scheduler was lost" in done.sentence()
        go(*INDEX, "--resume", "--jobs", "1")
    # A worker that was still writing may leave its report, which the next writer removes.
    left = re.compile(r"z\.bp/segments/\w+\.json")
    found = {name: data for name, data in artefacts(here).items() if not left.fullmatch(name)}
    assert found == only(local, "z.bp")


def _tasks_done(client):
    return client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)


NEEDED = {"ray": ("ray",), "spark": ("pyspark", "joblibspark")}


@pytest.mark.slow  # both take long to start
@pytest.mark.parametrize("engine", NEEDED)
def test_ray_and_spark_on_this_machine_give_the_same_bytes(engine, local, place, journey):
    for module in NEEDED[engine]:
        pytest.importorskip(module, reason=f"{module} is not installed: pip install 'bagpack[{engine}]'")
    if engine == "spark" and not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("there is no Java, which Spark runs on: install a JRE of version 17")
    found = journey(place(engine), "--backend", engine, "--jobs", "2")
    assert found.keys() == local.keys()
    assert [name for name in found if found[name] != local[name]] == []
