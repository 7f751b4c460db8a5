"""A model and a matrix know their store by name, and are used from other directories."""

import json
import shutil


def test_a_model_and_a_matrix_find_their_store_from_anywhere(cli, store, relations, tmp_path, monkeypatch):
    work, elsewhere = tmp_path / "work", tmp_path / "elsewhere"
    (work / "demo").mkdir(parents=True)
    elsewhere.mkdir()
    shutil.copytree(store, work / "demo" / "my.bp")
    shutil.copy(relations, work / "demo" / "pairs.tsv")
    monkeypatch.chdir(work)
    preset = ("--preset", "modern", "-j", 1)
    assert cli("vectors", "demo/my.bp", "demo/pairs.tsv", "-b", 20, "--out", "demo/m.bpm", "-j", 1).code == 0
    trained = cli("train", "demo/m.bpm", "demo/pairs.tsv", "--out", "demo/m.model", "--no-scores", *preset)
    assert trained.code == 0, trained.err
    expected = json.loads(cli("explain", "demo/m.model", "kinda03", "kindb03", "--json").out)
    evaluate = ("demo/pairs.tsv", "--folds", 3, "--condition", "v12", "--json", *preset)
    before, from_store = (
        json.loads(cli("evaluate", *source, *evaluate).out)
        for source in (["demo/m.bpm"], ["demo/my.bp", "-b", 20])
    )
    assert before["conditions"] == from_store["conditions"] and before["corpus"]["tokens"] > 1000

    def answers_from(folder, place):
        monkeypatch.chdir(folder)
        done = cli("explain", f"{place}m.model", "kinda03", "kindb03", "--json")
        assert done.code == 0, done.err
        assert json.loads(done.out) == expected
        done = cli("evaluate", f"{place}m.bpm", f"{place}pairs.tsv", *evaluate[1:])
        assert done.code == 0, done.err
        assert json.loads(done.out)["corpus"] == before["corpus"]

    answers_from(work / "demo", "")
    answers_from(elsewhere, f"{work}/demo/")
    # Another store of that name, from here: the right one is still found.
    (elsewhere / "demo").mkdir()
    index = cli("index", relations, "--out", elsewhere / "demo" / "my.bp", "--format", "text", "-q")
    assert index.code == 0, index.err
    answers_from(elsewhere, f"{work}/demo/")
    # All of it moved, and nothing of the old names left.
    shutil.rmtree(elsewhere / "demo")
    shutil.move(work / "demo", elsewhere / "moved")
    answers_from(elsewhere, "moved/")
    shutil.rmtree(elsewhere / "moved" / "my.bp")
    monkeypatch.chdir(elsewhere)
    done = cli("explain", "moved/m.model", "kinda03", "kindb03")
    assert done.code == 1
    assert (
        f"trained on demo/my.bp, which was found neither from {elsewhere} nor next to the model" in done.err
    )
    done = cli("explain", "moved/m.model", "kinda03", "kindb03", "--store", "none.bp")
    assert "none.bp does not exist; make one with bagpack index" in done.err


def test_a_matrix_says_nothing_of_a_store_that_is_damaged_or_has_changed(cli, store, relations, tmp_path):
    place, matrix = tmp_path / "my.bp", tmp_path / "m.bpm"
    shutil.copytree(store, place)
    assert cli("vectors", place, relations, "-b", 20, "-j", 1, "--out", matrix).code == 0

    def evaluated():
        done = cli("evaluate", matrix, relations, "--folds", 3, "--condition", "v12", "-j", 1, "--json")
        assert done.code == 0, done.err
        result = json.loads(done.out)
        assert sorted(result["corpus"]) == ["content_hash", "path"]
        assert not any("sentences" in row for row in result["predictions"])

    for manifest in ("[]", '{"kind": "corpus"'):
        (place / "manifest.json").write_text(manifest)
        assert "my.bp" in cli("contexts", place, "kinda03").sentence()
        evaluated()
    shutil.rmtree(place)
    assert cli("index", relations, "--format", "text", "--out", place, "-q", "-j", 1).code == 0
    evaluated()
