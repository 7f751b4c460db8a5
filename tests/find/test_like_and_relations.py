"""Pairs like a single one, and the collocates of a word in groups."""

import json
from itertools import chain

import numpy as np
import pytest

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.errors import InputError, UsageError
from bagpack.explain import similar_pairs
from bagpack.find import find_pairs, group_relations, make_prototype

from ..contexts.stores import make_store
from .conftest import PARTS, SAYINGS, SENTENCES

PAIR = PARTS[3]


@pytest.fixture(scope="module")
def prototype(source):
    return make_prototype(source, PAIR, b=300)


def test_the_score_is_the_weighted_mean_of_cosines(source, prototype):
    model = prototype.model
    others = [PARTS[5], PARTS[11], ("kinda03", "kindb03")]
    matrix = model.count([PAIR, *others], source)
    expected = np.zeros(len(others))
    for name, weight in (("v1", 0.25), ("v2", 0.25), ("v12", 0.5)):
        weighting = next(own for own in model.weightings if own.name == name)
        rows = weighting.apply(matrix.blocks[name].compact()).expanded().toarray()
        expected += weight * (rows[1:] @ rows[0]) / np.linalg.norm(rows[0])
    np.testing.assert_allclose(model.decisions(matrix)[1:, 0], expected)
    assert expected[0] > expected[2] and expected[1] > expected[2]


def test_pairs_of_the_same_relation_come_first(source, prototype):
    found = find_pairs(source, prototype.model, "like", top=12, per_word=None)
    assert sum((row.w1, row.w2) in PARTS for row in found) >= 8
    assert PAIR not in {(row.w1, row.w2) for row in found}
    assert {row.probability for row in found} == {None} and all(row.sentence for row in found)
    listed = similar_pairs(source, PAIR, PARTS[4:8], b=300)
    assert listed.ranked["all"]


def test_the_patterns_are_those_of_the_sayings(prototype):
    words = {word for saying in SAYINGS["part"] for word in saying.split()}
    assert prototype.patterns
    for pattern in prototype.patterns:
        terms = pattern.replace(PAIR[0], "").replace(PAIR[1], "").replace("…", " ").split()
        assert set(terms) <= words
    assert "nothing was trained" in prototype.notes[0]


def test_a_pair_without_patterns(source):
    with pytest.raises(InputError, match="does not contain 'unicorn'"):
        make_prototype(source, ("unicorn", "partb03"))
    with pytest.raises(InputError, match="never co-occur"):
        make_prototype(source, ("nobody", "wheel"))


def test_groups_follow_the_patterns(source):
    found = group_relations(source, "the", neighbours=60, groups=4, b=300)
    words = [own.word for group in found.groups for own in group.words]
    assert len(words) == len(set(words)) == found.neighbours
    assert 1 < len(found.groups) <= 4
    for group in found.groups:
        assert 1 <= len(group.patterns) <= 3 and all("the" in pattern.split() for pattern in group.patterns)
        for own in group.words:
            assert own.together >= 3 and own.word in own.sentence and "the" in own.sentence
    sizes = [len(group.words) for group in found.groups]
    assert sizes == sorted(sizes, reverse=True)
    assert found == group_relations(source, "the", neighbours=60, groups=4, b=300)


def test_a_group_is_named_by_three_patterns(tmp_path):
    """Words that follow by chance, or fewer than three times, are in no group."""
    lines = [["part6", "car"]]
    lines += [["a", f"part{k}", "of", "the", "car"] for k in range(7) for _ in range(3 + k)]
    lines += [["a", "garage", "of", "the", "car"]] * 12 + [["garage", "x"]] * 48
    lines += [["one", "car", "near", "every", f"place{k}", "stood"] for k in range(4) for _ in range(4)]
    lines += [["rare", "car"]] * 2 + [["car", "often"]] * 3 + [["often", "x"]] * 8000
    store = make_store(tmp_path, lines)
    found = group_relations(store, "car", groups=2, neighbours=16)
    parts, places = found.groups
    assert found.word == "car" and found.neighbours == sum(len(group.words) for group in found.groups)
    listed = [own.word for own in parts.words]
    assert listed == ["garage", *(f"part{k}" for k in range(6, -1, -1))]  # by how often they co-occur
    assert {own.sentence.lower() for own in parts.words} == {f"a {word} of the car" for word in listed}
    assert {f"place{k}" for k in range(4)} <= {own.word for own in places.words}
    assert not {"rare", "often"} & {own.word for group in found.groups for own in group.words}
    for group, terms in ((parts, {"of", "the", "a"}), (places, {"near", "every", "stood", "one"})):
        assert len(group.patterns) == 3
        for pattern in group.patterns:
            words = set(pattern.replace("…", " ").split())
            assert {"car", "X"} <= words and words - {"car", "X"} <= terms | {"."}
    strongest = group_relations(store, "car", neighbours=3, groups=1)
    assert {own.word for own in strongest.groups[0].words} == {"stood", "part6", "part5"}
    assert len(group_relations(store, "car", groups=50).groups) == found.neighbours // 3
    assert all("X" in p.split() and p.split().index("X") < p.split().index("car") for p in parts.patterns)


def test_a_pattern_that_groups_share_does_not_name_them_first(tmp_path):
    lines = [[colour, f"{colour[0]}{k}", "of", "the", "car"] for colour in ("red", "blue") for k in range(4)]
    lines += [["one", "car", "near", "every", f"place{k}", "stood"] for k in range(8)]
    store = make_store(tmp_path, [*6 * lines, *3000 * [["x", "y", "z"]]])
    named = {group.patterns[0] for group in group_relations(store, "car", groups=3).groups}
    assert {"red … X … car", "blue … X … car"} < named


def test_words_that_cannot_be_grouped(source, tmp_path):
    with pytest.raises(InputError, match="does not contain 'unicorn'"):
        group_relations(source, "unicorn")
    few = make_store(tmp_path, [["the", "cat", "sat"]])
    with pytest.raises(InputError, match="nothing to group; give a more frequent word"):
        group_relations(few, "cat")
    with pytest.raises(InputError, match="nothing to group; give a content word, such as a noun"):
        group_relations(few, "the")
    with pytest.raises(UsageError, match="--groups must be at least 1, not 0"):
        group_relations(source, "the", groups=0)


def test_the_commands(cli, store, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = cli("find", store, "--like", *PAIR, "--top", 4)
    assert done.code == 0 and "strongest patterns" in done.err
    assert max(map(len, done.out.splitlines())) <= 80
    both = cli("find", store, "--like", *PAIR, "--model", "m")
    assert both.code == 2 and "either EXAMPLES, or --model MODEL, or --like W1 W2" in both.err
    shown = cli("relations", store, "the", "--groups", 3, "--words", 40)
    assert shown.code == 0 and shown.out.startswith("the: ") and max(map(len, shown.out.splitlines())) <= 80
    found = json.loads(cli("relations", store, "the", "--groups", 3, "--words", 40, "--json").out)
    assert len(found["groups"]) == 3
    out = tmp_path / "r.tsv"
    assert cli("relations", store, "the", "--groups", 3, "--words", 40, "--out", out).code == 0
    header, *rows = out.read_text().splitlines()
    assert header.startswith("w1\tw2\tgroup\tpatterns") and len(rows) == found["neighbours"]
    lost = cli("relations", store, "unicorn")
    assert lost.code == 1 and lost.err.count("\n") == 1


def test_the_groups_in_some_documents_are_those_of_a_store_of_them_alone(tmp_path, cli):
    rows = [["<s>", *(f"{word}\t{word}" for word in words), "</s>"] for words in SENTENCES]
    texts = [
        "\n".join([f"<text id='{k}' genre='{'xy'[k % 2]}'>", *chain(*rows[k::30]), "</text>", ""])
        for k in range(30)
    ]
    for name, own in (("all", texts), ("alone", texts[::2])):
        (tmp_path / f"{name}.vert").write_text("".join(own))
        options = TextOptions(columns="word,lemma")
        index_corpus([str(tmp_path / f"{name}.vert")], tmp_path / name, options, part_bytes=8000)
    asked = ("the", "--groups", 3, "--words", 40, "--json", "-b", 300, "--jobs", 1)
    whole, part, alone = (
        json.loads(cli("relations", tmp_path / name, *asked, *where).out)
        for name, where in (("all", ()), ("all", ("--where", "genre == x")), ("alone", ()))
    )
    assert part["groups"] and part == alone != whole
