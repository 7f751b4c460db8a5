"""A thesaurus is read back by the library that other programs use."""

import pytest

from bagpack.find.export import write_turtle

rdflib = pytest.importorskip("rdflib")
ISO = rdflib.Namespace("http://purl.org/iso25964/skos-thes#")
OWN = rdflib.Namespace("urn:bagpack:relation:")
SKOS = rdflib.namespace.SKOS


@pytest.mark.parametrize(
    ("label", "relation", "above"),
    [
        ("hypernym", SKOS.broader, None),
        ("Part_of", ISO.broaderPartitive, SKOS.broader),
        ("synonym", SKOS.related, None),
        ("", SKOS.related, None),
        ("instrument action", OWN["instrument-action"], SKOS.semanticRelation),
    ],
)
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


def test_the_command(cli, store, examples, tmp_path):
    found = tmp_path / "found.ttl"
    assert cli("find", store, examples, "--out", found, "--top", 5).code == 0
    assert found.read_text().startswith("@prefix")
    for name in ("q.rdf", "q.graphml", "q.docx"):
        wrong = cli("find", store, examples, "--out", tmp_path / name)
        assert wrong.code == 2 and "name it .tsv, .csv, .xlsx or .ttl" in wrong.err
