"""A corpus of a hundred thousand tokens, the whole way over it, and a real dask cluster on this machine."""

import json
import re

import numpy as np
import pytest
from scale_cluster import INDEX, PARTS, VECTORS, Cluster, artefacts

WORDS = 1500


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
        for document in range(60):
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


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    pytest.importorskip("distributed", reason="dask is not installed: pip install 'bagpack[dask]'")
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    yield running
    running.close()
