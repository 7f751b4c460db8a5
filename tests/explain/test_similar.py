"""Similar pairs: the numbers by hand, the right neighbours, and reasons that add up."""

import json
import math

import numpy as np
import pytest

from bagpack.basis import Basis
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.build.index import index_corpus
from bagpack.explain import similar_pairs
from bagpack.explain.similar import WEIGHTS
from bagpack.names import BLOCKS
from bagpack.sources import open_source
from bagpack.vectors.matrix import BlockMatrix
from tests.experiments.conftest import made_up_pairs, made_up_text


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("similar")
    rows = []
    for line in made_up_text():
        rows += ["<s>", *(f"{word}\tX\t{word}" for word in line.split()), "</s>"]
    (folder / "c.vert").write_text("\n".join([*rows, ""]))
    index_corpus([str(folder / "c.vert")], folder / "c.bp", part_bytes=8000)
    return open_source(folder / "c.bp")


def pairs_of(label=None):
    return [(a, b) for a, b, name in made_up_pairs() if label in (None, name)]


def test_the_nearest_pairs_stand_in_the_same_relation(source):
    right = total = 0
    for a, b, label in made_up_pairs()[::5]:
        found = similar_pairs(source, (a, b), pairs_of(), b=60, top=3)
        others = [p for p in found.ranked["v12"] if p.w2 != b]
        right += sum((p.w1, p.w2) in pairs_of(label) for p in others)
        total += len(others)
    assert right / total > 0.9


def test_a_similarity_is_the_cosine_by_hand(source):
    basis = source.pick_basis(50)
    pair, other = pairs_of("kind")[1], pairs_of("kind")[3]
    found = similar_pairs(source, pair, [other, *pairs_of("part")[:5]], basis=basis, top=20, reasons=10_000)
    matrix = BlockMatrix.count(source, [pair, other], basis, CountSettings())
    tokens = source.corpus.tokens
    counts = [*basis.unigram_counts, *basis.bigram_counts]
    entry = next(p for p in found.ranked["all"] if (p.w1, p.w2) == other)
    sums = {}
    for block in BLOCKS:
        rows = matrix.block(block).toarray()
        weights = np.array([math.log(tokens / counts[c % len(counts)]) for c in range(rows.shape[1])])
        one, two = (np.log1p(row) * weights for row in rows)
        sums[block] = one @ two / math.sqrt((one @ one) * (two @ two))
        assert entry.blocks[block] == pytest.approx(sums[block], abs=1e-6)
    assert entry.similarity == pytest.approx(sum(WEIGHTS[b] * sums[b] for b in BLOCKS), abs=1e-6)
    assert sum(reason.share for reason in entry.reasons) == pytest.approx(1, abs=0.01)
    assert all(reason.count and reason.other_count for reason in entry.reasons)
    alone = similar_pairs(source, pair, [other], basis=basis).ranked["all"][0]
    assert alone.similarity == entry.similarity  # whatever else is on the list


def test_what_is_missing_is_reported(source):
    found = similar_pairs(source, ("kinda01", "nosuch"), pairs_of("kind")[:4], b=30)
    assert found.unknown == ["nosuch"] and any("never seen together" in note for note in found.notes)
    assert found.ranked["v12"] == [] and found.ranked["v1"]
    bare = Basis(("of", "a", "the"), ())
    assert "weigh the same" in similar_pairs(source, pairs_of()[0], pairs_of()[1:4], basis=bare).notes[0]


def test_similar_command(cli, source, write):
    among = write("p.tsv", "w1\tw2\n" + "".join(f"{a}\t{b}\n" for a, b in pairs_of()))
    shown = cli("similar", source.path, "kinda01", "kindb01", "--among", among, "-b", 60, "--jobs", 1)
    assert shown.code == 0 and "all together" in shown.out and "v12" in shown.out and "kinda" in shown.out
    data = json.loads(
        cli(
            "similar", source.path, "kinda01", "kindb01", "--among", among, "-b", 60, "--json", "--jobs", 1
        ).out
    )
    assert set(data["ranked"]) == {"all", "v1", "v2", "v12"}
    marked = cli("similar", source.path, "[/b]", "kindb01", "--among", among, "-b", 60, "--jobs", 1)
    assert "the corpus does not contain [/b]" in marked.out
    neither = cli("similar", source.path, "a", "b")
    assert neither.code == 2 and "--among" in neither.err and "bagpack find" in neither.err
    assert cli("similar", source.path, "a", "b", "--among", among, "--by", "x").code == 2
