"""A thesaurus is read back by the libraries that other programs use."""

import pytest

from bagpack.find.export import write_thesaurus

networkx = pytest.importorskip("networkx")
rdflib = pytest.importorskip("rdflib")

ROWS = [
    {"w1": "oak", "w2": "tree", "label": "hypernym", "together": 7, "probability": 0.9,
     "sentence": "An oak <is> a tree."},
    {"w1": "leaf", "w2": "tree", "label": "Part_of", "together": 3, "probability": None, "sentence": "a \x07 leaf"},
    {"w1": "ice cream", "w2": "gelato", "label": "synonym"},
    {"w1": "knife", "w2": "cut", "label": "instrument action"},
    {"w1": "sea", "w2": "tree", "label": "No"},
]  # fmt: skip


def test_turtle(tmp_path):
    path = tmp_path / "t.ttl"
    assert write_thesaurus(path, ROWS) == 4
    graph = rdflib.Graph().parse(path)
    skos = rdflib.namespace.SKOS
    labels = {node: str(label) for node, label in graph.subject_objects(skos.prefLabel)}
    assert sorted(labels.values()) == ["cut", "gelato", "ice cream", "knife", "leaf", "oak", "tree"]

    def pairs(relation):
        return [(labels[one], labels[two]) for one, two in graph.subject_objects(relation)]

    assert pairs(skos.broader) == [("oak", "tree")]
    partitive = rdflib.URIRef("http://purl.org/iso25964/skos-thes#broaderPartitive")
    assert pairs(partitive) == [("leaf", "tree")]
    assert (partitive, rdflib.RDFS.subPropertyOf, skos.broader) in graph
    assert pairs(skos.related) == [("ice cream", "gelato")]
    assert pairs(rdflib.URIRef("urn:bagpack:relation:instrument-action")) == [("knife", "cut")]
    own = rdflib.URIRef("urn:bagpack:relation:instrument-action")
    assert (own, rdflib.RDFS.subPropertyOf, skos.semanticRelation) in graph
    assert graph.value(own, rdflib.RDFS.label) == rdflib.Literal("instrument action")
    scheme = rdflib.URIRef("urn:bagpack:scheme")
    assert (scheme, rdflib.RDF.type, skos.ConceptScheme) in graph
    assert len(list(graph.subjects(skos.inScheme, scheme))) == 7
    assert rdflib.URIRef("urn:bagpack:concept:ice%20cream") in labels


def test_a_property_for_all_pairs(tmp_path):
    write_thesaurus(tmp_path / "t.ttl", ROWS, skos="narrower", base="http://example.org/", lang="de")
    graph = rdflib.Graph().parse(tmp_path / "t.ttl")
    assert len(list(graph.subject_objects(rdflib.namespace.SKOS.narrower))) == 4
    leaf = rdflib.URIRef("http://example.org/concept:leaf")
    assert graph.value(leaf, rdflib.namespace.SKOS.prefLabel) == rdflib.Literal("leaf", lang="de")


def test_graphml(tmp_path):
    path = tmp_path / "t.graphml"
    assert write_thesaurus(path, [*ROWS, {"w1": "oak", "w2": "tree", "label": "related"}]) == 5
    graph = networkx.read_graphml(path)
    assert [data["label"] for _, _, data in graph.edges("oak", data=True)] == ["hypernym", "related"]
    graph.remove_edge("oak", "tree", 1)
    assert set(graph.nodes) == {"oak", "tree", "leaf", "ice cream", "gelato", "knife", "cut"}
    assert graph.nodes["ice cream"]["label"] == "ice cream"
    edges = {(one, two): {**data, "id": ""} for one, two, data in graph.edges(data=True)}
    assert edges["oak", "tree"] == {
        "label": "hypernym", "together": 7, "probability": 0.9, "sentence": "An oak <is> a tree.", "id": "",
    }  # fmt: skip
    assert edges["leaf", "tree"]["sentence"] == "a  leaf"


def test_the_commands(cli, store, examples, write, tmp_path):
    found = tmp_path / "found.ttl"
    assert cli("find", store, examples, "--out", found, "--top", 5).code == 0
    assert found.read_text().startswith("@prefix")
    again = cli("find", store, examples, "--out", found)
    assert again.code == 2 and "exists already" in again.err
    checked = write("checked.tsv", "w1\tw2\tlabel\tsentence\noak\ttree\thypernym\tAn oak.\nsea\ttree\tno\t\n")
    for name in ("a.ttl", "a.graphml", "a.tsv", "a.csv", "a.xlsx"):
        done = cli("export", checked, "--out", tmp_path / name)
        assert done.code == 0 and done.err.endswith(": 1 pair\n1 pair excluded, labelled no\n"), done.err
    assert (tmp_path / "a.tsv").read_text() == "w1\tw2\tlabel\tsentence\noak\ttree\thypernym\tAn oak.\n"
    row = "oak\ttree\thypernym\n"
    twice = write("twice.tsv", f"w1\tw2\tlabel\n{3 * row}leaf\ttree\tpart\n" + 2 * "sea\ttree\tno\n")
    for name, written in (("a.ttl", "equal relations are written once"), ("a.csv", "all rows are written")):
        done = cli("export", twice, "--out", tmp_path / name, "--overwrite")
        said = f": 2 pairs\n2 rows repeat a pair; {written}\n1 pair excluded, labelled no\n"
        assert done.code == 0 and done.err.endswith(said), done.err
    own = cli("export", checked, "--out", checked, "--overwrite")
    assert own.code == 2
    plain = write("plain.tsv", "w1\tw2\nleaf\ttree\n")
    unnamed = write(
        "unnamed.tsv", "w1\tw2\tlabel\nleaf\ttree\tyes\n"
    )  # as teach labels pairs without a label
    for pairs in (plain, unnamed):
        options = ("--label", "part-of", "--overwrite")
        assert cli("export", pairs, "--out", tmp_path / "p.ttl", *options).code == 0
        assert "broaderPartitive" in (tmp_path / "p.ttl").read_text()
    rejected = write("no.tsv", "w1\tw2\tlabel\nsea\ttree\tno\n")
    for pairs, name, options, said in (
        (plain, "q.ttl", ("--skos", "wider"), "--skos wider is unknown"),
        (plain, "q.ttl", ("--base", "my words"), "--base 'my words' is not a base URI"),
        (plain, "q.ttl", ("--lang", "plain English"), "--lang 'plain English' is not a language tag"),
        (plain, "q.rdf", (), "q.rdf cannot be written as .rdf; name it .ttl, .graphml, .tsv, .csv or .xlsx"),
        (
            plain,
            "q.docx",
            (),
            "q.docx cannot be written as .docx; name it .ttl, .graphml, .tsv, .csv or .xlsx",
        ),
        (plain, "p.ttl", (), "p.ttl exists already; choose another name, or replace it with --overwrite"),
        (rejected, "q.ttl", (), "no.tsv has no pair to write: all of them are labelled no"),
    ):
        wrong = cli("export", pairs, "--out", tmp_path / name, *options)
        assert wrong.code in (1, 2) and said in wrong.err and wrong.err.strip().count("\n") == 0
        assert not (tmp_path / "q.ttl").exists()
