"""Real clusters on this machine: the same bytes as without them, whoever dies."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, nullcontext, suppress

import joblib
import numpy as np
import pytest
from tests.conftest import LIMIT

from bagpack import Corpus, PairVectorizer, parallel
from bagpack.parallel import open_backend
from bagpack.vectors.counts import forget

PARTS = 8
INDEX = ("index", "texts", "--out", "z.bp", "--quiet")
VECTORS = ("vectors", "z.bp", "pairs.tsv", "--out", "m.bpm", "-b", "60", "--limit", "40", "--quiet")


def artefacts(here):
    """Every file below that is no input, by name; word vectors are made by the first search, wherever it runs."""
    return {
        str(path.relative_to(here)): path.read_bytes()
        for path in here.rglob("*")
        if path.is_file()
        and "word-vectors" not in path.parts
        and not any(up.is_symlink() for up in (path, path.parent))
    }


class Cluster:
    """A scheduler and workers as processes of their own, on loopback."""

    def __init__(self, place):
        self.place = place
        self.file = place / "scheduler.json"
        self.processes = {}
        self.start("dask_scheduler", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-show")
        self.address = until(self._scheduler)

    def _scheduler(self):
        """Its address, once its file is there and whole."""
        with suppress(FileNotFoundError, ValueError):
            return json.loads(self.file.read_text())["address"]
        return None

    def start(self, module, name, *more):
        with open(self.place / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", "--scheduler-file", str(self.file),
                 "--no-dashboard", *more],
                cwd=self.place, stdout=log, stderr=log,
                env={**os.environ, "BAGPACK_SCRATCH": str(self.place / "not-for-workers")},
            )  # fmt: skip

    def workers(self, *names):
        """Have these workers, and no others."""
        for name in self.processes.keys() - {"scheduler", *names}:
            self.processes[name].kill()
        for name in names:
            if name not in self.processes or self.processes[name].poll() is not None:
                self.start(
                    "dask_worker", name, "--name", name, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny",
                    "--memory-limit", "0", "--local-directory", str(self.place),
                )  # fmt: skip
        with self.client() as client:
            until(lambda: set(self._by_name(client)) == set(names))
        return self

    def client(self):
        from distributed import Client

        return Client(self.address, set_as_default=False)

    def _by_name(self, client):
        workers = client.scheduler_info(n_workers=-1)["workers"]
        return {facts["name"]: address for address, facts in workers.items()}

    def kill_in_the_middle(self, victim, made, run, of=None):
        """Run until a worker (or process `of`) is killed -9 while it holds an unfinished task; what that returned."""
        held = []

        def watch():
            with self.client() as client:
                address = self._by_name(client)[victim]
                process = self.processes[victim]

                def holds():
                    return list(client.processing().get(address, ()))

                while not held:
                    until(holds)
                    process.send_signal(signal.SIGSTOP)  # whatever it holds now stays unfinished
                    time.sleep(0.1)
                    held.extend(holds())
                    if held and of:
                        self.processes[of].kill()
                    process.send_signal(signal.SIGCONT if of or not held else signal.SIGKILL)
                self.processes[of or victim].wait()

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        while not held and thread.is_alive():  # the first run may be over before a task is seen
            shutil.rmtree(made, ignore_errors=True)
            forget()
            done = run()
        thread.join(LIMIT)
        assert held
        return done

    def close(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


def until(condition, seconds=LIMIT):
    limit = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.002)
    return found


WORDS = 500


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    """Texts, pairs and a labelled data set, to be linked into each place where the way is gone."""
    place = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(7)
    share = 1 / (np.arange(WORDS) + 3)
    share /= share.sum()
    (place / "texts").mkdir()
    for number in range(2):
        lines = []
        for document in range(36):
            lines.append(f'<text id="{number}-{document}">')
            for _ in range(60):
                words = rng.choice(WORDS, rng.integers(6, 22), p=share)
                lines += ["<s>", *(f"w{word}s\tNN\tw{word}" for word in words), "</s>"]
            lines.append("</text>")
        (place / "texts" / f"{number}.vrt").write_text("\n".join(lines) + "\n")
    pairs = [
        (f"w{one}", f"w{two}") for one, two in rng.choice(np.arange(5, 300), (400, 2)).tolist() if one != two
    ]
    labelled = [f"{one}\t{two}\t{'abc'[int(one[1:]) % 3]}\n" for one, two in pairs[:90]]
    (place / "relations.tsv").write_text("w1\tw2\tlabel\n" + "".join(labelled))
    pairs += [("w9 w3", "w8"), ("x", "w9")]
    (place / "pairs.tsv").write_text("w1\tw2\n" + "".join(f"{one}\t{two}\n" for one, two in pairs))
    return place


@pytest.fixture
def small_tasks(monkeypatch):
    """Several parts and several tasks, though the corpus is small."""
    monkeypatch.setattr("bagpack.corpus.build.plan.MIN_PART", 1 << 16)
    monkeypatch.setattr("bagpack.corpus.build.plan.PARTS_WANTED", PARTS)
    monkeypatch.setattr("bagpack.contexts.count.POSTINGS_PER_TASK", 1 << 10)


@pytest.fixture
def place(inputs, tmp_path, monkeypatch):
    """Make a directory with the inputs and go there: commands are given relative names, which workers do not share."""

    def make(name):
        here = tmp_path / name
        here.mkdir()
        for path in inputs.iterdir():
            (here / path.name).symlink_to(path)
        monkeypatch.chdir(here)
        return here

    return make


@pytest.fixture
def go(cli):
    """Run one command, which must succeed."""

    def run(*args):
        done = cli(*args)
        assert done.code == 0, done.err
        return done.out

    return run


@pytest.fixture
def journey(go):
    """The whole way in the working directory; everything that it leaves, as bytes by name."""

    def run(here, *how):
        go(*INDEX, *how)
        (here / "basis.tsv").write_text(go("basis", "z.bp", "-b", "60", *how))
        go(*VECTORS, *how)
        result = json.loads(
            go("evaluate", "z.bp", "relations.tsv", "-b", "60", "--folds", "3", "--json", *how)
        )
        without_times = re.sub(r'"(seconds|command)": ("[^"]*"|[^,}]*)', "", json.dumps(result))
        (here / "result.json").write_text(without_times)
        (here / "found.json").write_text(go("find", "z.bp", "relations.tsv", "--label", "a", "--json", *how))
        return artefacts(here)

    return run


@pytest.fixture(scope="module")  # its five processes are never idle
def cluster(tmp_path_factory):
    pytest.importorskip("distributed", reason="dask is not installed: pip install 'bagpack[dask]'")
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    yield running
    running.close()


pytestmark = pytest.mark.usefixtures("small_tasks")


LOCAL: dict[str, bytes] = {}  # what the local run left; it is made once


@pytest.fixture
def local(place, journey):
    if not LOCAL:
        LOCAL.update(journey(place("local"), "--jobs", "1"))
    return LOCAL


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
    how = ("--backend", "dask", "--address", cluster.address if command is VECTORS else cluster.file)
    cluster.kill_in_the_middle(victim, here / made[-1], lambda: go(*command, *how))
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
        done = [client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)]
        together = PairVectorizer(corpus, b=30).fit_transform(pairs)
        done.append(client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter))
    assert done[1] > done[0]
    assert np.array_equal(alone.toarray(), together.toarray())
    assert sorted(path.name for path in here.iterdir() if not path.is_symlink()) == ["z.bp"]


def test_a_scheduler_that_dies(local, place, cli, go, tmp_path):
    """One sentence; `--resume` works at once, although workers may still be writing."""
    here = place("died")
    with closing(Cluster(tmp_path).workers("one", "two")) as dying:
        command = (*INDEX[:-1], "--backend", "dask", "--address", dying.address)  # not quiet
        done = dying.kill_in_the_middle("one", here / "z.bp", lambda: cli(*command), of="scheduler")
        assert "index: --resume" in done.sentence()
        go(*INDEX, "--resume", "--jobs", "1")
    # A worker that was still writing may leave its report, which the next writer removes.
    left = re.compile(r"z\.bp/segments/\w+\.json")
    found = {name: data for name, data in artefacts(here).items() if not left.fullmatch(name)}
    assert found == only(local, "z.bp")


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


def test_scheduler_out_of_reach(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "TIMEOUT", 0.5)
    for address in ("tcp://127.0.0.1:1", f"{tmp_path}/none.json"):
        said = cli("basis", tmp_path, "--backend", "dask", "--address", address).sentence()
        assert f"dask does not answer at {address}" in said


def test_scheduler_without_workers(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(parallel, "TIMEOUT", 0.5)
    lonely = Cluster(tmp_path)
    lost = pytest.raises(parallel.WorkerError, match=r"no worker \(.* 0\.5\)")
    with closing(lonely), lost, open_backend("dask", lonely.address):
        pass


def test_a_scheduler_that_dies_is_reported_wherever_it_is_noticed(monkeypatch):
    """joblib may notice it before any task is sent, and the client when it is closed."""
    comm = pytest.importorskip("distributed.comm")
    monkeypatch.setattr("bagpack.parallel._dask", lambda *arguments: None)
    monkeypatch.setattr(joblib, "parallel_config", lambda *arguments, **settings: nullcontext())
    lost = pytest.raises(parallel.WorkerError, match="scheduler")
    with lost, open_backend("dask", "tcp://127.0.0.1:1"):
        raise comm.CommClosedError("ConnectionPool closing.")
