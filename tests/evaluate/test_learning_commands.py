"""evaluate, train, predict, reproduce, as a user runs them: options reach the numbers, defaults are as documented."""

import csv
import json
import shutil
import zipfile

import pytest

import bagpack
from bagpack.evaluate import questions as choice
from tests.made_up import ROWS, table

CONDITIONS = ["v1v2", "v12", "v1v2v12"]
HEADER = ["w1", "w2", "label", "probability", "kind", "part", "tool", "together", "trained"]


@pytest.fixture
def run(cli, store):
    """run(command, *args) → the JSON of a command on the store, which succeeds."""

    def call(command, *args):
        done = cli(command, store, *args, "-b", 50, "-j", 1, "--json")
        assert done.code == 0, done.err
        return json.loads(done.out)

    return call


@pytest.fixture(scope="module")
def trained(world):
    """A model of all made-up pairs; copy it to change it."""
    return world.model()


def test_predictions_are_written_by_the_name_of_the_file(cli, store, run, relations, tmp_path):
    args = (relations, "--folds", 4, "--condition", "v12", "--predictions")
    predictions = run("evaluate", *args, tmp_path / "p.csv")["predictions"]
    with open(tmp_path / "p.csv", newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 72
    total = json.loads(cli("contexts", store, "kinda00", "kindb00", "--json").out)["total"]
    first = [rows[0][key] for key in ("w1", "w2", "label", "line", "together")]
    assert first == ["kinda00", "kindb00", "kind", "2", str(total)]
    assert [row["abstained"] == "yes" for row in rows] == [row["abstained"] for row in predictions]
    expected = [row["probability"] for row in predictions]
    assert [float(row["probability"]) for row in rows] == pytest.approx(expected, rel=1e-5)
    assert len(set(expected)) > 20
    refused = cli("evaluate", store, *args, relations, "-b", 50)
    assert refused.code == 2 and f"{relations} exists" in refused.err
    for wrong in ("--precision=1.5", "--folds=1", "--seed=-1", "--split=x", "--condition=v3", "--preset=x"):
        done = cli("evaluate", store, relations, wrong)
        assert done.code == 2 and wrong.partition("=")[0] in done.err


def test_training_rows_that_repeat_a_test_pair_are_excluded_and_reported(cli, store, run, relations, write):
    header, *rows = relations.read_text().splitlines()
    swapped = ["\t".join([b, a, label]) for a, b, label in (row.split("\t") for row in rows[:3])]
    test = write("test.tsv", "\n".join([header, *swapped, *rows[3::4]]) + "\n")
    result = run("evaluate", relations, "--test", test)
    assert (result["tested"], result["dropped"]) == (21, 21)
    assert sum(bool(row["predicted"]) for row in result["predictions"]) == 21
    assert any(note.startswith("21 training rows") for note in result["notes"])
    same = cli("evaluate", store, relations, "--test", relations, "-b", 50, "-j", 1)
    assert "test file" in same.sentence()
    for option in (("--split", "lexical"), ("--folds", 7)):
        wrong = cli("evaluate", store, relations, "--test", test, *option)
        assert "--split and --folds" in wrong.sentence(2)


def test_words_with_the_same_lemma_or_in_other_case_make_the_same_pair(cli, tmp_path, write):
    """An unknown word is compared without case: a repeated pair would be trained and tested on."""
    text = write("t.txt", "The cats saw a dog. The cat and the dogs ran. A cow met the horses.\n" * 4)
    assert cli("index", text, "--out", tmp_path / "t.bp", "-q", "-j", 1).code == 0
    train = write("train.tsv", "w1\tw2\tlabel\ncats\tdogs\ta\ncow\thorse\tb\ncat\tcow\ta\nWolf\thowl\ta\n")
    test = write("test.tsv", "w1\tw2\tlabel\ndog\tcat\ta\ndog\thorse\tb\nhowl\twolf\tb\n")
    done = cli("evaluate", tmp_path / "t.bp", train, "--test", test, "-b", 20, "--json", "-j", 1)
    assert done.code == 0, done.err
    assert json.loads(done.out)["dropped"] == 2


def test_evaluate_uses_what_it_is_given_and_notes_what_it_does_not_compute(run, write, monkeypatch):
    """Labels that differ only in case are noted; of many rows there is no learning curve."""
    rows = [(a, b, "Kind" if k < 8 else label) for k, (a, b, label) in enumerate(ROWS)]
    base = ("evaluate", write("typed.tsv", table(rows)), "--folds", 3, "--condition", "v12")
    plain = run(*base)
    assert any("'kind' (16 rows), 'Kind' (8 rows)" in note for note in plain["notes"])
    assert plain["learning_curve"]
    for name, value in (("C", "0.001"), ("preset", "paper"), ("split", "lexical")):
        other = run(*base, f"--{name}" if name != "C" else "-C", value)
        assert plain["settings"][name] != other["settings"][name] and str(other["settings"][name]) == value
        assert any(plain[part] != other[part] for part in ("conditions", "predictions"))
    monkeypatch.setattr("bagpack.evaluate.run.MOST_ROWS_FOR_CURVE", 10)
    many = run(*base)
    assert "learning_curve" not in many
    (note,) = [note for note in many["notes"] if note not in plain["notes"]]
    assert "learning curve" in note and " 10 rows" in note


def test_questions_are_answered_and_picks_shown(cli, store, questions, relations, tmp_path, monkeypatch):
    picks, report, before = tmp_path / "picks.tsv", tmp_path / "r.html", relations.read_bytes()
    made, wide_rows = [], choice.wide_rows
    monkeypatch.setattr(choice, "wide_rows", lambda *given: made.append(given) or wide_rows(*given))
    args = ("evaluate", store, questions, "-b", 50, "-j", 1, "--predictions")
    done = cli(*args, picks, "--report", report)
    assert done.code == 0, done.err
    assert [corpus.path.name for corpus, _ in made] == [store.name], "analogies use the store's wide vectors"
    assert done.out.count("✓") + done.out.count("✗") + done.out.count("?") >= 30
    assert "bagpack evaluate --predictions FILE.tsv " in done.out and " 12 questions" in done.out
    header, *rows = (line.split("\t") for line in picks.read_text().splitlines())
    assert header == ["id", "stem", "answer", *(x for name in CONDITIONS for x in (name, f"{name} right"))]
    assert len(rows) == 12
    for row in rows:
        for pick, right in zip(row[3::2], row[4::2], strict=True):
            assert right == "guess" or (right == "yes") == (pick == row[2])
    assert "Picks" in report.read_text() and rows[-1][1] in report.read_text()
    assert cli(*args, picks).code == 0, "picks are written over picks, and over nothing else"
    assert f"{relations} exists" in cli(*args, relations).err
    assert relations.read_bytes() == before
    book = tmp_path / "p.xlsx"
    assert cli(*args, book).code == cli(*args, book).code == 0
    with zipfile.ZipFile(book, "w") as other:
        other.writestr("docProps/core.xml", "<mine/>")
    for place in (book, relations, tmp_path / "no" / "p.tsv"):
        assert cli(*args, place).code == 2
    for name, value in (("folds", 3), ("columns", "w1=x"), ("split", "lexical")):
        assert f"--{name}" in cli(*args[:-1], f"--{name}", value).sentence(2)


def test_the_threshold_and_the_card_of_a_model(cli, store, relations, tmp_path):
    model, report = tmp_path / "relations.model", tmp_path / "report.html"
    train = ("train", store, relations, "--out", model, "-b", 50, "--folds", 3, "-C", 0.5, "-j", 1)
    # One threshold is shown, the model's; the cross-validation's own, which differs, is in the report.
    done = cli(*train, "--precision", 0.6, "--report", report)
    assert done.code == 0, done.err
    assert "precision of 60 %" in done.err and "precision of" not in done.out
    assert "precision of 60\u00a0%" in report.read_text()
    assert "precision of 90 %" in cli(*train, "--overwrite").out
    card = (model / "README.md").read_text()
    assert "v1v2v12" in card and "`bagpack find`" in card
    assert cli(*train, "--overwrite", "--no-scores", "--condition", "all").code == 2
    facts = json.loads(cli("info", model, "--json").out)
    assert facts["kind"] == "model" and facts["labels"] == ["kind", "part", "tool"]
    assert bagpack.load(model).settings["C"] == 0.5


def test_predict(cli, store, trained, write, tmp_path):
    new = write("new.tsv", "w1\tw2\nkinda01\tkindb01\ntoola03\ttoolb03\nnosuchword\tkindb01\n")
    done = cli("predict", trained, new, "-j", 1)
    header, first, second, third = lines = [line.split("\t") for line in done.out.splitlines()]
    assert header == HEADER
    assert first[:3] == ["kinda01", "kindb01", "kind"] and second[2] == "tool"
    assert float(first[4]) == max(map(float, first[4:7])) and 1 / 3 < float(first[3]) <= 1
    assert third[0] == "nosuchword" and "nosuchword" in done.err
    assert third[2] == third[7] == "", "an unknown word: no answer, and nothing seen together"
    assert [row[8] for row in (first, second, third)] == ["yes", "yes", "no"]
    assert int(first[7]) == json.loads(cli("contexts", store, *first[:2], "--json").out)["total"] > 0
    # As JSON, numbers are numbers, and the table is written next to it.
    file = tmp_path / "p.tsv"
    rows = json.loads(cli("predict", trained, new, "-j", 1, "--json", "--out", file).out)
    assert [line.split("\t") for line in file.read_text().splitlines()] == lines
    assert list(rows[0]) == HEADER
    assert [row["together"] for row in rows] == [int(first[7]), int(second[7]), None]
    assert all(isinstance(row[name], float) for row in rows for name in HEADER[4:7])
    assert lines[1][4] == f"{rows[0]['kind']:.6g}"


def test_models_that_cannot_be_used(cli, trained, write, tmp_path):
    text = write("other.txt", "The kinda01 is a kindb01. " * 5)
    assert cli("index", text, "--out", tmp_path / "other.bp", "-q", "-j", 1).code == 0
    pairs = write("p.tsv", "w1\tw2\nkinda01\tkindb01\n")
    other = ("predict", trained, pairs, "-j", 1, "--store", tmp_path / "other.bp")
    refused = cli(*other).sentence()
    assert "another store" in refused and "--any-store" in refused
    assert cli(*other, "--any-store").code == 0
    assert cli("predict", tmp_path / "m.model", pairs).code == 1


def test_what_no_model_is_trained_on(cli, store, relations, tmp_path, monkeypatch):
    out = tmp_path / "m.model"
    train = ("-b", 50, "-o", out, "-j", 1)
    with monkeypatch.context() as patched:  # which is reported before the work
        patched.setattr("os.access", lambda *arguments: False)
        patched.setattr("bagpack.evaluate.run.load_rows", None)
        done = cli("train", store, relations, *train)
    assert f"{out} " in done.sentence() and f"{tmp_path} is read-only" in done.err
    relations.write_text(table([*ROWS, ("kinda00", "kindb01", "rare")]))
    assert "--no-scores" in cli("train", store, relations, *train).sentence()
    assert cli("train", store, relations, *train, "--no-scores").code == 0


@pytest.mark.costly
def test_reproduce_shows_the_papers_numbers(cli, store, ratings, questions, relations, write):
    """Weighting and scaling are fitted on the whole matrix, as the paper seems to have done."""
    asked = [(f"kinda{i:02d}", f"partb{i:02d}", f"kindb{i:02d}") for i in range(12)]
    lines = [json.dumps({"stem": stem, "choices": own, "answer": 1}) + "\n" for stem, *own in asked]
    synonyms = write("synonyms.jsonl", "".join(lines))
    never = ("kinda00", "toolb00", "kind"), ("parta00", "kindb00", "part")
    relations.write_text(table([*ROWS, *never]))
    found = {}
    for task, data in (("plausibility", ratings), ("synonyms", synonyms), ("relations", relations)):
        done = cli("reproduce", task, store, "--data", data, "-b", 20, "--json", "-j", 1)
        found[task] = result = json.loads(done.out)
        assert result["settings"]["transductive"] and "(transductive)" in result["notes"][0], task
        assert [result["settings"][name] for name in ("b", "preset", "limit")] == [20, "paper", 5000]
    # Herdağdelen & Baroni (2009)
    published = [(own["name"], own["scores"]) for own in found["plausibility"]["references"]]
    assert [name for name, _ in published] == ["paper, Yahoo", "paper, ukWaC"]
    assert published[0][1]["v12"] == {"spearman_pooled": 0.60, "spearman": 0.45}
    assert published[1][1]["v1v2v12"] == {"spearman_pooled": 0.60, "spearman": 0.52}
    # Rows that were never seen are counted, and the score without them is given, as the paper did.
    result = found["relations"]
    v12 = result["conditions"][1]
    assert result["main_metric"] == "auc" and len(result["groups"]["rows"]) == 3
    assert v12["zero_rows"] == 2 and v12["nonzero"]["auc"]["mean"] > v12["metrics"]["auc"]["mean"]
    assert any(one.startswith("2 of 74 rows ") and "v12;" in one for one in result["notes"])
    shown = cli("reproduce", "analogy", store, "--data", questions, "-b", 50, "-j", 1)
    assert shown.code == 0 and "paper" in shown.out and "complete" in shown.out
    wrong = cli("reproduce", "plausibility", store, "--data", relations)
    assert f"{relations} " in wrong.sentence()


# A model and a matrix know their store by name ------------------------------------------------------------------------


@pytest.mark.costly
def test_a_model_and_a_matrix_find_their_store_from_anywhere(cli, store, relations, tmp_path, monkeypatch):
    demo, elsewhere = tmp_path / "work" / "demo", tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copytree(store, demo / "my.bp")
    shutil.copy(relations, demo / "pairs.tsv")
    monkeypatch.chdir(demo.parent)
    explain, how = ("kinda03", "kindb03", "--json"), ("--folds", 3, "--condition", "v12", "--json", "-j", 1)

    def shown(command, *args):
        done = cli(command, *args)
        assert done.code == 0, done.err
        return json.loads(done.out)

    assert cli("vectors", "demo/my.bp", "demo/pairs.tsv", "-b", 20, "--out", "demo/m.bpm", "-j", 1).code == 0
    assert cli("train", "demo/m.bpm", "demo/pairs.tsv", "--out", "demo/m.model", "--no-scores").code == 0
    expected = shown("explain", "demo/m.model", *explain)
    before = shown("evaluate", "demo/m.bpm", relations, *how)
    assert "-b" in cli("evaluate", "demo/m.bpm", relations, "-b", 10).sentence(2)
    from_store = shown("evaluate", "demo/my.bp", relations, "-b", 20, *how)
    assert before["conditions"] == from_store["conditions"] and before["corpus"]["tokens"] > 1000

    def check(folder, place):
        monkeypatch.chdir(folder)
        assert shown("explain", f"{place}m.model", *explain) == expected
        assert shown("evaluate", f"{place}m.bpm", relations, *how)["corpus"] == before["corpus"]

    check(demo, "")
    # Another store of that name, from here: the right one is still found.
    (elsewhere / "demo").mkdir()
    assert cli("index", relations, "--out", elsewhere / "demo" / "my.bp", "--format", "text", "-q").code == 0
    check(elsewhere, f"{demo}/")
    # All of it moved, and nothing of the old names left.
    shutil.rmtree(elsewhere / "demo")
    shutil.move(demo, elsewhere / "moved")
    check(elsewhere, "moved/")
    # Of a store that is damaged or has changed, a matrix says nothing.
    place = elsewhere / "moved" / "my.bp"
    for damage in ("[]", '{"kind": "corpus"', None):
        if damage is not None:
            (place / "manifest.json").write_text(damage)
            assert "my.bp" in cli("contexts", place, "kinda03").sentence()
        else:
            shutil.rmtree(place)
            assert cli("index", relations, "--format", "text", "--out", place, "-q", "-j", 1).code == 0
        result = shown("evaluate", "moved/m.bpm", relations, *how)
        assert sorted(result["corpus"]) == ["content_hash", "path"]
        assert not any("sentences" in row for row in result["predictions"])
    shutil.rmtree(place)
    said = cli("explain", "moved/m.model", *explain).sentence()
    assert [part for part in ("demo/my.bp", str(elsewhere), "--store") if part not in said] == []
    assert "none.bp" in cli("explain", "moved/m.model", *explain, "--store", "none.bp").sentence()
