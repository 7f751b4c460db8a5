"""`bagpack find` as users run it: tables, pages, JSON, and what it says about bad input."""

import json
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
import python_calamine

from bagpack.find.export import write_turtle
from bagpack.find.ranking import COLUMNS
from bagpack.learn.model_io import load_model
from tests.conftest import LIMIT, samples

from .conftest import GIVEN, HELD_OUT, PARTS, SENTENCES

rdflib = pytest.importorskip("rdflib")
ISO = rdflib.Namespace("http://purl.org/iso25964/skos-thes#")
OWN = rdflib.Namespace("urn:bagpack:relation:")
SKOS = rdflib.namespace.SKOS
COUNTS = Counter(word for sentence in SENTENCES for word in sentence)
WORDS = sorted(word for word in COUNTS if word.isalnum())

LOADED = """
import sys
from bagpack.cli import main
sys.argv = ["bagpack", *sys.argv[1:]]
main()
heavy = {"sklearn", "pandas", "pyarrow", "scipy.stats", "scipy.optimize"}  # not needed
print("loaded:", *sorted(heavy & set(sys.modules)))
"""


def test_on_the_screen_and_as_a_page(cli, store, examples, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    page = tmp_path / "found.html"
    done = cli("find", store, examples, "--top", 5)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split("  ")[0].strip() == "1" and " – " in lines[0] and "together" in lines[0]
    assert "10 examples" in done.err  # the file has no label, so none is named
    assert "candidate pairs" in done.err
    done = cli("find", store, examples, "--html", page, "--top", 15)
    assert done.code == 0 and str(page) in done.err
    text = page.read_text()
    assert text.count('<li><span class="rank">') == 15 and "<script" not in text
    assert f"{HELD_OUT[0][0]} – " in text or HELD_OUT[1][0] in text


@pytest.mark.parametrize("name", ["found.tsv", "found.csv", "found.xlsx"])
def test_tables(cli, store, examples, tmp_path, name):
    out = tmp_path / name
    assert cli("find", store, examples, "--out", out, "--top", 8).code == 0
    if name.endswith("xlsx"):
        rows = python_calamine.CalamineWorkbook.from_path(str(out)).get_sheet_by_index(0).to_python()
    else:
        separator = "," if name.endswith("csv") else "\t"
        rows = [line.split(separator) for line in out.read_text("utf-8-sig").splitlines()]
    assert tuple(rows[0]) == COLUMNS and len(rows) == 9
    assert not {(row[1], row[2]) for row in rows} & set(GIVEN)
    again = cli("find", store, examples, "--out", out)
    assert again.code == 2 and f"{out} exists" in again.err


def test_json_a_word_and_known_pairs(cli, store, examples, write):
    done = cli("find", store, examples, "--w2", "partb03", "--json")
    found = json.loads(done.out)
    assert {pair["w2"] for pair in found["pairs"]} == {"partb03"} and done.err == ""
    best = found["pairs"][0]
    known = write("known.tsv", f"w1\tw2\n{best['w2']}\t{best['w1']}\n")
    other = json.loads(cli("find", store, examples, "--w2", "partb03", "--json", "--known", known).out)
    assert other["pairs"][0]["w1"] == found["pairs"][1]["w1"]


def test_pairs_like_one(cli, store):
    """One pair is an example like any other, and at most five pairs have its word in the same place."""
    kinds = ("--pos1", "any", "--pos2", "any")  # made-up words are of any
    done = cli("find", store, "--like", *GIVEN[0], *kinds, "--json", "--top", 40)
    found = [(pair["w1"], pair["w2"]) for pair in json.loads(done.out)["pairs"]]
    assert len(set(found) & set(PARTS)) >= 10 and GIVEN[0] not in found
    unknown = cli("find", store, "--like", "unicorn", "horn")
    assert unknown.code == 1 and "unicorn" in unknown.err


def test_a_trained_model_and_a_term_list(cli, store, write, tmp_path):
    rows = [f"{a}\t{b}\tpart\n{b}\t{a}\trandom\n" for a, b in GIVEN] + ["kinda01\tkindb01\tkind\n"] * 6
    data = write("data.tsv", "w1\tw2\tlabel\n" + "".join(rows))
    model = tmp_path / "model"
    assert cli("train", store, data, "--out", model, "--no-scores").code == 0
    every_word = {word for pair in PARTS for word in pair}
    terms = write("terms.txt", "\n".join(["# parts", *every_word, "unicorn", ""]))
    misspelt = cli("find", store, "--model", model, "--label", "parts")
    assert misspelt.code == 2 and "has no label 'parts'; did you mean part? it has kind" in misspelt.err
    several = cli("find", store, "--model", model)
    assert several.code == 2 and "choose the one to find with --label: kind, part, random" in several.err
    done = cli("find", store, "--model", model, "--label", "part", "--among", terms, "--json", "--top", 400)
    pairs = json.loads(done.out)["pairs"]
    scores = [pair["score"] for pair in pairs]
    assert scores == sorted(scores, reverse=True) and len(set(scores)) > 10
    assert {word for pair in pairs for word in (pair["w1"], pair["w2"])} <= every_word
    # Labels compete: pairs are ranked by log odds and, without background pairs, by PMI.
    loaded = load_model(model)
    listed = [(pair["w1"], pair["w2"]) for pair in pairs]
    probability = loaded.predict_proba(listed)[:, loaded.classes.index("part")]
    odds = np.log(probability / (1 - probability))
    pmi = [np.log(p["together"] * loaded.basis.tokens / (p["n_w1"] * p["n_w2"])) for p in pairs]
    np.testing.assert_allclose(odds + pmi, scores, atol=1e-5)
    table = write("p.tsv", "w1\tw2\n" + "".join(f"{p['w1']}\t{p['w2']}\n" for p in pairs))
    header, *listed = [line.split("\t") for line in cli("predict", model, table).out.splitlines()]
    for pair, row in zip(pairs, listed, strict=True):
        assert int(row[header.index("together")]) == pair["together"]
    asked = ["find", store, "--model", model, "--label", "part", "--w2", "partb03"]
    command = [sys.executable, "-c", LOADED, *asked]
    quick = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT)
    assert "partb03" in quick.stdout and quick.stdout.splitlines()[-1] == "loaded:"


TERMS = {"UNKNOWN": "unicorn\ndragon\n", "EMPTY": "# nothing\n\n", "TABLE": "# parts\na\t\nb\tc\n"}


@pytest.mark.parametrize(("message", "content", "options"), samples("find/wrong_examples.jsonl"))
def test_bad_input_is_one_sentence(cli, store, write, message, content, options, monkeypatch):
    bad = write("bad.tsv", content)
    monkeypatch.chdir(bad.parent)
    for name, text in TERMS.items():
        write(name, text)
    done = cli("find", store, bad, *options.replace("BAD", str(bad)).split())
    assert done.code in (1, 2) and bad.read_text() == content
    assert [part for part in message.split("|") if part not in done.sentence(done.code)] == []


# A thesaurus is read back by the library that other programs use ------------------------------


@pytest.mark.parametrize(
    ("label", "relation", "above"),
    [("hypernym", SKOS.broader, None), ("Part_of", ISO.broaderPartitive, SKOS.broader), ("synonym", SKOS.related, None),
     ("yes", SKOS.related, None), ("instrument action", OWN["instrument-action"], SKOS.semanticRelation)],
)  # fmt: skip
def test_turtle(tmp_path, label, relation, above):
    path = tmp_path / "t.ttl"
    write_turtle(path, [{"w1": "ice cream", "w2": "food"}, {"w1": "leaf", "w2": "food"}], label)
    graph = rdflib.Graph().parse(path)
    labels = {node: str(name) for node, name in graph.subject_objects(SKOS.prefLabel)}
    assert sorted(labels.values()) == ["food", "ice cream", "leaf"]
    found = sorted((labels[one], labels[two]) for one, two in graph.subject_objects(relation))
    assert found == [("ice cream", "food"), ("leaf", "food")]
    assert graph.value(relation, rdflib.RDFS.subPropertyOf) == above
    assert len(list(graph.subjects(SKOS.inScheme, rdflib.URIRef("urn:bagpack:scheme")))) == 3
    assert rdflib.URIRef("urn:bagpack:concept:ice%20cream") in labels


def test_names_of_other_tables_are_refused(cli, store, examples, tmp_path):
    for name in ("q.rdf", "q.graphml", "q.docx"):
        wrong = cli("find", store, examples, "--out", tmp_path / name)
        assert wrong.code == 2 and f"{name} " in wrong.err and ".xlsx or .ttl" in wrong.err
