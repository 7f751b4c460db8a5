"""evaluate, solve, train, predict, reproduce, as a user runs them."""

import csv
import json

import pytest

from bagpack.evaluate import questions as choice
from tests.forging import forge

CONDITIONS = ["v1v2", "v12", "v1v2v12"]


def test_evaluate_gives_three_conditions_intervals_and_baselines(cli, store, relations, tmp_path):
    report = tmp_path / "r.html"
    done = cli("evaluate", store, relations, "-b", 50, "--folds", 4, "--json", "--report", report, "-j", 1)
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert [entry["name"] for entry in result["conditions"]] == CONDITIONS
    assert [entry["name"] for entry in result["baselines"]] == ["majority", "words-only"]
    v12 = result["conditions"][1]["metrics"]["f1_macro"]
    assert v12["low"] <= v12["mean"] <= v12["high"] and len(v12["folds"]) == 4
    assert v12["mean"] > 0.9  # each relation has its own ways of being said
    assert result["conditions"][1]["metrics"]["auc"]["mean"] > 0.95
    assert result["data"]["labels"] == {"kind": 24, "part": 24, "tool": 24}
    assert result["corpus"]["tokens"] > 1000
    assert sum(map(sum, result["confusion"]["counts"])) == 72
    assert sum(row["n"] for row in result["buckets"]["rows"]) == 72
    page = report.read_text()
    assert (
        "v1v2v12" in page
        and "<script src" not in page
        and "http://" not in page.replace("http://www.w3.org", "")
    )


def test_predictions_are_written_by_the_name_of_the_file(cli, store, relations, tmp_path):
    args = ("evaluate", store, relations, "-b", 50, "--folds", 4, "--condition", "v12", "-j", 1)
    for name, delimiter in (("p.tsv", "\t"), ("p.csv", ",")):
        done = cli(*args, "--predictions", tmp_path / name, "--json")
        assert done.code == 0, done.err
        predictions = json.loads(done.out)["predictions"]
        with open(tmp_path / name, newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file, delimiter=delimiter))
        assert len(rows) == 72
        assert (rows[0]["w1"], rows[0]["w2"], rows[0]["label"], rows[0]["line"]) == (
            "kinda00", "kindb00", "kind", "2",
        )  # fmt: skip
        assert [row["abstained"] == "yes" for row in rows] == [row["abstained"] for row in predictions]
        assert [float(row["probability"]) for row in rows] == pytest.approx(
            [row["probability"] for row in predictions], rel=1e-5
        )
        assert len({row["probability"] for row in rows}) > 20
        assert (
            int(rows[0]["together"])
            == json.loads(cli("contexts", store, "kinda00", "kindb00", "--json").out)["total"]
        )
    refused = cli(*args, "--predictions", relations)
    assert refused.code == 2 and "no table of predictions that BagPack made" in refused.err
    assert cli(*args, "--precision", 1.5).code == 2


def test_a_lexical_split_shares_no_word_and_says_what_it_dropped(cli, store, relations):
    done = cli("evaluate", store, relations, "-b", 50, "--split", "lexical", "--folds", 3, "--json", "-j", 1)
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert result["settings"]["split"] == "lexical"
    words_only = result["baselines"][1]["metrics"]["accuracy"]["mean"]
    assert words_only <= 0.5  # with no word shared, the words alone tell nothing


def test_a_test_file_replaces_the_folds(cli, store, relations, write, tmp_path):
    rows = relations.read_text().splitlines()
    test = write("test.tsv", "\n".join([rows[0], *rows[1::4]]) + "\n")
    train = write("train.tsv", "\n".join([rows[0], *(r for i, r in enumerate(rows[1:]) if i % 4)]) + "\n")
    result = json.loads(cli("evaluate", store, train, "--test", test, "-b", 50, "--json", "-j", 1).out)
    assert result["tested"] == 18
    assert result["conditions"][2]["metrics"]["accuracy"]["mean"] > 0.8
    tested = [row for row in result["predictions"] if row["predicted"]]
    assert len(tested) == 18
    # Probabilities are those of a model trained on the training file: no test row is used.
    cli("train", store, train, "-o", tmp_path / "m.bpm", "-b", 50, "--no-scores", "-j", 1)
    pairs = write("pairs.tsv", "w1\tw2\n" + "".join(f"{row['w1']}\t{row['w2']}\n" for row in tested))
    answers = [
        line.split("\t") for line in cli("predict", tmp_path / "m.bpm", pairs, "-j", 1).out.splitlines()[1:]
    ]
    assert [row["predicted"] for row in tested] == [answer[2] for answer in answers]
    assert [row["probability"] for row in tested] == pytest.approx([float(a[3]) for a in answers], abs=1e-4)


def test_training_rows_that_repeat_a_test_pair_are_excluded_and_reported(cli, store, relations, write):
    header, *rows = relations.read_text().splitlines()
    swapped = ["\t".join([b, a, label]) for a, b, label in (row.split("\t") for row in rows[:3])]
    test = write("test.tsv", "\n".join([header, *swapped, *rows[3::4]]) + "\n")
    args = ("evaluate", store, relations, "--test", test, "-b", 50, "--json", "-j", 1)
    result = json.loads(cli(*args).out)
    assert (result["tested"], result["dropped"]) == (21, 21)
    assert any("excluded: 21 of 72" in note for note in result["notes"])
    one = write("one.tsv", f"{header}\n{rows[0]}\nnosuchword\tkindb01\tkind\n")
    result = json.loads(cli("evaluate", store, relations, "--test", one, "-b", 50, "--json", "-j", 1).out)
    assert any("excluded: 1 of 72." in note for note in result["notes"])
    same = cli("evaluate", store, relations, "--test", relations, "-b", 50, "-j", 1)
    assert same.code == 1
    assert "every training row repeats a pair of the test file" in same.err


def test_words_with_the_same_lemma_make_the_same_pair(cli, tmp_path, write):
    text = write("t.txt", "The cats saw a dog. The cat and the dogs ran. A cow met the horses.\n" * 4)
    assert cli("index", text, "--out", tmp_path / "t.bp", "-q", "-j", 1).code == 0
    train = write("train.tsv", "w1\tw2\tlabel\ncats\tdogs\ta\ncow\thorse\tb\ncat\tcow\ta\n")
    test = write("test.tsv", "w1\tw2\tlabel\ndog\tcat\ta\ndog\thorse\tb\n")
    done = cli("evaluate", tmp_path / "t.bp", train, "--test", test, "-b", 20, "--json", "-j", 1)
    assert done.code == 0, done.err
    assert json.loads(done.out)["dropped"] == 1


def test_a_matrix_serves_where_a_store_does(cli, store, relations, tmp_path):
    matrix = tmp_path / "m.bpm"
    assert cli("vectors", store, relations, "-b", 50, "--out", matrix, "-q", "-j", 1).code == 0
    from_matrix = json.loads(cli("evaluate", matrix, relations, "--folds", 3, "--json", "-j", 1).out)
    from_store = json.loads(cli("evaluate", store, relations, "-b", 50, "--folds", 3, "--json", "-j", 1).out)
    assert from_matrix["conditions"] == from_store["conditions"]


def test_labels_that_differ_only_in_case_are_noted(cli, store, relations, write):
    rows = relations.read_text().splitlines()
    typed = write(
        "typed.tsv",
        "\n".join(
            [rows[0], *(row.replace("\tkind", "\tKind ") if i < 8 else row for i, row in enumerate(rows[1:]))]
        )
        + "\n",
    )
    done = cli("evaluate", store, typed, "-b", 50, "--folds", 4, "--condition", "v12", "-j", 1)
    shown = " ".join(done.out.split())
    assert "labels that differ only in case, spaces or hyphens: 'kind' (16 rows), 'Kind' (8 rows)" in shown
    few = cli("evaluate", store, typed, "-b", 50, "--condition", "v12", "-j", 1)
    assert few.code == 1
    assert "the label 'Kind' has 8 pairs, fewer than the 10 folds" in few.err


def test_train_names_the_option_that_a_rare_label_needs(cli, store, relations, tmp_path):
    with open(relations, "a") as file:
        file.write("kinda00\tkindb01\trare\n")
    done = cli("train", store, relations, "-b", 50, "-o", tmp_path / "m", "-j", 1)
    assert done.code == 1
    assert done.err.endswith("remove its rows, or train without scores (--no-scores)\n")
    assert cli("train", store, relations, "-b", 50, "-o", tmp_path / "m", "-j", 1, "--no-scores").code == 0


def test_analogies_use_the_wide_vectors_of_the_store(cli, store, questions, monkeypatch):
    made, wide_rows = [], choice.wide_rows
    monkeypatch.setattr(choice, "wide_rows", lambda *given: made.append(given) or wide_rows(*given))
    assert cli("evaluate", store, questions, "-b", 50, "-j", 1).code == 0
    assert [corpus.path.name for corpus, _ in made] == [store.name]


def test_solve_shows_what_it_picks(cli, store, questions, tmp_path):
    picks, report = tmp_path / "picks.tsv", tmp_path / "r.html"
    done = cli("evaluate", store, questions, "-b", 50, "-j", 1, "--predictions", picks, "--report", report)
    assert done.code == 0, done.err
    assert "Picks" in done.out
    assert done.out.count("✓") + done.out.count("✗") + done.out.count("?") >= 30
    assert "10 of 12 questions; bagpack evaluate --predictions FILE.tsv writes them all" in done.out
    header, *rows = (line.split("\t") for line in picks.read_text().splitlines())
    assert header == ["id", "stem", "answer", *(x for name in CONDITIONS for x in (name, f"{name} right"))]
    assert len(rows) == 12
    for row in rows:
        for pick, right in zip(row[3::2], row[4::2], strict=True):
            assert right == "guess" or (right == "yes") == (pick == row[2])
    assert "Picks" in report.read_text()
    assert rows[-1][1] in report.read_text()


def test_train_then_predict(cli, store, relations, write, tmp_path):
    model = tmp_path / "relations.model"
    done = cli("train", store, relations, "--out", model, "-b", 50, "--folds", 3, "-j", 1)
    assert done.code == 0, done.err
    card = (model / "README.md").read_text()
    assert "v1v2v12" in card and "(`bagpack find`) ranks many pairs that are in no relation" in card
    new = write("new.tsv", "w1\tw2\nkinda01\tkindb01\ntoola03\ttoolb03\nnosuchword\tkindb01\n")
    done = cli("predict", model, new, "-j", 1)
    header, first, second, third = (line.split("\t") for line in done.out.splitlines())
    assert header == ["w1", "w2", "label", "probability", "kind", "part", "tool", "together", "trained"]
    assert first[:3] == ["kinda01", "kindb01", "kind"] and second[2] == "tool"
    assert float(first[4]) == max(map(float, first[4:7])) and 1 / 3 < float(first[3]) <= 1
    assert third[0] == "nosuchword" and "nosuchword" in done.err
    assert third[2] == third[7] == "", "an unknown word: no answer, and nothing seen together"
    assert [row[8] for row in (first, second, third)] == ["yes", "yes", "no"]
    together = cli("contexts", store, "kinda01", "kindb01", "--json").out
    assert int(first[7]) == json.loads(together)["total"] > 0
    rows = json.loads(cli("predict", model, new, "-j", 1, "--json").out)
    assert [row["together"] for row in rows] == [int(first[7]), int(second[7]), None]
    facts = json.loads(cli("info", model, "--json").out)
    assert facts["kind"] == "model" and facts["labels"] == ["kind", "part", "tool"]


def test_train_shows_one_threshold(cli, store, relations, tmp_path):
    """That of the model; the cross-validation's own, which differs, is in the report, for the same precision."""
    report = tmp_path / "report.html"
    args = ("train", store, relations, "-b", 50, "--folds", 3, "-j", 1, "--out", tmp_path / "m.model")
    done = cli(*args, "--precision", 0.6, "--report", report)
    assert done.code == 0, done.err
    assert "for a precision of 60 %" in done.err and "With a threshold chosen" not in done.out
    assert "threshold chosen for a precision of 60\u00a0%" in report.read_text()
    assert "threshold chosen for a precision of 90 %" in cli(*args, "--overwrite").out


def test_a_model_of_another_store_is_refused(cli, store, relations, write, tmp_path):
    model = tmp_path / "m.model"
    assert cli("train", store, relations, "--out", model, "-b", 50, "--no-scores", "-j", 1).code == 0
    text = write("other.txt", "The kinda01 is a kindb01. " * 5)
    assert cli("index", text, "--out", tmp_path / "other.bp", "-q", "-j", 1).code == 0
    pairs = write("p.tsv", "w1\tw2\nkinda01\tkindb01\n")
    done = cli("predict", model, pairs, "--store", tmp_path / "other.bp")
    assert done.code == 1 and "another store" in done.err and "--any-store" in done.err
    assert cli("predict", model, pairs, "--store", tmp_path / "other.bp", "--any-store", "-j", 1).code == 0


def test_reproduce_shows_the_papers_numbers(cli, store, ratings, questions, relations, write):
    asked = [
        {"stem": f"kinda{i:02d}", "choices": [f"partb{i:02d}", f"kindb{i:02d}"], "answer": 1}
        for i in range(12)
    ]
    synonyms = write("synonyms.jsonl", "".join(json.dumps(question) + "\n" for question in asked))
    result = json.loads(
        cli("reproduce", "plausibility", store, "--data", ratings, "-b", 50, "--json", "-j", 1).out
    )
    yahoo, ukwac = result["references"]
    assert (yahoo["name"], ukwac["name"]) == ("paper, Yahoo", "paper, ukWaC")
    # Herdağdelen & Baroni (2009)
    assert yahoo["scores"]["v12"] == {"spearman_pooled": 0.60, "spearman": 0.45}
    assert ukwac["scores"]["v1v2v12"] == {"spearman_pooled": 0.60, "spearman": 0.52}
    shown = cli("reproduce", "analogy", store, "--data", questions, "-b", 50, "-j", 1)
    assert shown.code == 0 and "paper" in shown.out
    result = json.loads(cli("reproduce", "relations", store, "--data", relations, "--json", "-j", 1).out)
    assert result["main_metric"] == "auc" and len(result["groups"]["rows"]) == 3
    # Weighting and scaling are fitted on the whole matrix, as the paper seems to have done.
    assert result["settings"]["transductive"] and "all rows (transductive)" in result["notes"][0]
    for task, data in (("plausibility", ratings), ("synonyms", synonyms)):
        args = ("reproduce", task, store, "--data", data, "-b", 50, "--json", "-j", 1)
        result = json.loads(cli(*args).out)
        assert result["settings"]["transductive"] and "all rows (transductive)" in result["notes"][0], task


KINDS = "".join(f"kinda{i:02d}\tkindb{i:02d}\tkind\n" for i in range(12))
BAD = {
    "a class with fewer members than folds": (
        f"w1\tw2\tlabel\n{KINDS}parta00\tpartb00\tpart\nparta01\tpartb01\tpart\n", ["part", "--folds"],
    ),
    "one class only": (f"w1\tw2\tlabel\n{KINDS}", ["kind"]),
    "labels and scores both": ("w1\tw2\tlabel\trating\nkinda01\tkindb01\tkind\t3\n", ["--columns"]),
    "a rating that is no number": ("w1\tw2\trating\nkinda01\tkindb01\tnan\n", [":2"]),
    "all words unknown": (
        "w1\tw2\tlabel\n" + "".join(f"zz{i}\tyy{i}\t{'ab'[i % 2]}\n" for i in range(40)), ["corpus"],
    ),
    "a question without an answer": ('{"stem": "kinda01", "choice": ["a", "b"]}\n', [":1", "answer"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_data_gets_a_sentence(cli, store, write, name):
    content, words = BAD[name]
    path = write("bad.tsv", content)
    done = cli("evaluate", store, path, "-b", 50, "-j", 1)
    assert done.code == 1, (done.code, done.err)
    assert done.err.startswith("bagpack: ") and "Traceback" not in done.err
    assert all(word in done.err for word in words), done.err
    assert done.out == ""


def test_a_damaged_model_gets_a_sentence(cli, store, relations, write, tmp_path):
    model = tmp_path / "m.model"
    cli("train", store, relations, "--out", model, "-b", 50, "--no-scores", "-j", 1)
    pairs = write("p.tsv", "w1\tw2\nkinda01\tkindb01\n")
    forge(model, format_version=99)
    done = cli("predict", model, pairs)
    assert done.code == 1 and "99" in done.err
    assert cli("predict", tmp_path / "nothing.model", pairs).code == 1
    assert cli("evaluate", store, relations, "--preset", "nonsense", "-j", 1).code == 2
    assert cli("evaluate", store, relations, "--condition", "v3").code == 2


def test_what_is_at_the_place_of_a_model_is_not_replaced(cli, store, relations, write, tmp_path):
    """--overwrite is suggested only where it would help."""
    model, notes = tmp_path / "m.model", write("notes.txt", "mine")
    train = ("train", store, relations, "-b", 50, "--no-scores", "-j", 1, "--out")
    assert cli(*train, model).code == 0
    again = cli(*train, model)
    assert again.code == 1
    assert "m.model exists already; choose another --out, or replace it with --overwrite" in again.err
    other = cli(*train, notes)
    assert other.code == 1
    assert "notes.txt exists and is not a BagPack model, so it is not replaced" in other.err
    assert notes.read_text() == "mine"


def test_no_model_is_trained_on_words_that_the_corpus_does_not_have(cli, store, write, tmp_path):
    data = write("d.tsv", "w1\tw2\tlabel\nzzz1\tzzz2\tkind\nzzz3\tzzz4\tpart\n")
    done = cli("train", store, data, "-b", 50, "--no-scores", "-j", 1, "--out", tmp_path / "m.model")
    assert "none of the words of the 2 pairs was found in the corpus" in done.sentence()
    assert not (tmp_path / "m.model").exists()


def test_a_place_where_no_model_can_be_is_refused_before_the_training(
    cli, store, relations, tmp_path, monkeypatch
):
    monkeypatch.setattr("os.access", lambda *arguments: False)
    monkeypatch.setattr("bagpack.evaluate.run.load_rows", None)  # not reached
    done = cli("train", store, relations, "-o", tmp_path / "m.model", "-j", 1)
    assert f"m.model cannot be written: {tmp_path} is read-only; choose another --out" in done.sentence()


def test_predictions_as_json_are_numbers_and_a_model_has_one_condition(cli, store, relations, tmp_path):
    out = tmp_path / "m.model"
    assert cli("train", store, relations, "--no-scores", "--out", out, "--condition", "all").code == 2
    assert cli("train", store, relations, "-b", 40, "--no-scores", "--out", out).code == 0
    rows = json.loads(cli("predict", out, relations, "--json").out)
    labels = [
        name for name in rows[0] if name not in ("w1", "w2", "label", "probability", "together", "trained")
    ]
    assert labels and all(isinstance(row[name], float) for row in rows for name in labels)
    assert all(row["label"] == max(labels, key=lambda name: row[name]) for row in rows)
    table = [line.split("\t") for line in cli("predict", out, relations).out.splitlines()]
    file = tmp_path / "p.tsv"
    assert json.loads(cli("predict", out, relations, "--json", "--out", file).out) == rows
    assert [line.split("\t") for line in file.read_text().splitlines()] == table
    assert table[0] == list(rows[0]) and table[1][4] == f"{rows[0][labels[0]]:.6g}"


def test_picks_are_written_over_picks_alone(cli, store, questions, relations, tmp_path):
    before = relations.read_bytes()
    done = cli("evaluate", store, questions, "-b", 50, "-j", 1, "--predictions", relations)
    assert done.code == 2 and "no table of picks that BagPack made, so it is not replaced" in done.err
    assert relations.read_bytes() == before
    assert cli("evaluate", store, questions, "--predictions", tmp_path / "no" / "p.tsv").code == 2
    for _ in range(2):
        assert (
            cli("evaluate", store, questions, "-b", 50, "-j", 1, "--predictions", tmp_path / "p.tsv").code
            == 0
        )
