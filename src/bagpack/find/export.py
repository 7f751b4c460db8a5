"""Pairs as a thesaurus for other programs: SKOS Turtle, which Protégé and VocBench read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bagpack.errors import UsageError, import_extra
from bagpack.files import check_file, replacing
from bagpack.find.examples import UNNAMED
from bagpack.sheets import check_table

TURTLE = ".ttl"
BASE = "urn:bagpack:"
ISO_THES = "http://purl.org/iso25964/skos-thes#"
# What a label means in SKOS; every other one becomes a property of its own, below skos:semanticRelation.
BROADER = frozenset({"hypernym", "hypernymy", "is-a", "isa", "kind", "kind-of", "instance-of", "broader"})
PARTITIVE = frozenset({"part", "part-of", "meronym", "partof", "member-of", "made-of"})
RELATED = frozenset(
    {UNNAMED, "synonym", "antonym", "coordinate", "co-hyponym", "cohyponym", "related", "similar"}
)

_rdflib = partial(import_extra, "rdflib", "rdflib", "thesaurus", "writing SKOS Turtle")


def check_found_file(path: Path, overwrite: bool) -> None:
    """Whether pairs can be written here in the format of the file's name, before the work."""
    ending = path.suffix.lower()
    if ending not in {"", ".txt", ".tsv", ".csv", ".xlsx", TURTLE}:
        raise UsageError(f"{path} cannot be written as {path.suffix}; name it .tsv, .csv, .xlsx or .ttl")
    if ending == TURTLE:
        _rdflib()
        check_file(path, "thesaurus", lambda head: False, "thesaurus.ttl", overwrite)
    else:
        check_table(path, "table of pairs", overwrite=overwrite)


def write_turtle(path: Path, rows: Iterable[Mapping[str, Any]], label: str, lang: str = "en") -> None:
    """Write pairs (rows with w1 and w2) of one relation as SKOS Turtle; `lang` is the language of the words."""
    rdflib = _rdflib()
    names = rdflib.namespace
    graph = rdflib.Graph()
    graph.bind("skos", names.SKOS)
    scheme = rdflib.URIRef(f"{BASE}scheme")
    graph.add((scheme, names.RDF.type, names.SKOS.ConceptScheme))

    def concept(word: str) -> Any:
        node = rdflib.URIRef(f"{BASE}concept:{quote(word, safe='')}")
        graph.add((node, names.RDF.type, names.SKOS.Concept))
        graph.add((node, names.SKOS.prefLabel, rdflib.Literal(word, lang=lang)))
        graph.add((node, names.SKOS.inScheme, scheme))
        return node

    relation = _relation(graph, label or "related", rdflib)
    for row in rows:
        graph.add((concept(str(row["w1"])), relation, concept(str(row["w2"]))))
    with replacing(path) as out:
        out.write(graph.serialize(format="turtle").encode())


def _relation(graph: Any, label: str, rdflib: Any) -> Any:
    """The property that a label becomes, declared in the graph unless SKOS has it."""
    names = rdflib.namespace
    plain = label.lower().replace("_", "-").replace(" ", "-")
    if plain in BROADER:
        return names.SKOS.broader
    if plain in RELATED:
        return names.SKOS.related
    if plain in PARTITIVE:
        iso = rdflib.Namespace(ISO_THES)
        graph.bind("iso-thes", iso)
        graph.add((iso.broaderPartitive, names.RDFS.subPropertyOf, names.SKOS.broader))
        return iso.broaderPartitive
    own = rdflib.Namespace(f"{BASE}relation:")[quote(plain, safe="")]
    graph.add((own, names.RDFS.subPropertyOf, names.SKOS.semanticRelation))
    graph.add((own, names.RDFS.label, rdflib.Literal(label)))
    return own
