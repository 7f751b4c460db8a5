"""Pairs as a thesaurus for other programs: SKOS Turtle (Protégé, VocBench) and GraphML (Gephi, Cytoscape)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bagpack.errors import UsageError, import_extra
from bagpack.files import check_file, replacing
from bagpack.find.examples import NO_LABELS
from bagpack.sheets import UNWRITABLE, Cell, check_table, write_table

GRAPHS = (".ttl", ".graphml")
OTHER_GRAPHS = (
    ".rdf", ".owl", ".xml", ".nt", ".n3", ".nq", ".trig", ".jsonld", ".skos", ".gexf", ".gml", ".dot",
)  # fmt: skip
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|\\^`]*")
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")  # BCP 47
BASE = "urn:bagpack:"
ISO_THES = "http://purl.org/iso25964/skos-thes#"
SKOS_PROPERTIES = ("broader", "narrower", "related")
# What a label means in SKOS; every other one becomes a property of its own, below skos:semanticRelation.
BROADER = frozenset({"hypernym", "hypernymy", "is-a", "isa", "kind", "kind-of", "instance-of", "broader"})
PARTITIVE = frozenset({"part", "part-of", "meronym", "partof", "member-of", "made-of"})
RELATED = frozenset({"synonym", "antonym", "coordinate", "co-hyponym", "cohyponym", "related", "similar"})
ATTRIBUTES = ("probability", "score", "together", "sentence")

Row = Mapping[str, Any]

_rdflib = partial(import_extra, "rdflib", "rdflib", "thesaurus", "writing SKOS Turtle")
_networkx = partial(import_extra, "networkx", "networkx", "thesaurus", "writing GraphML")


def is_graph(path: Path) -> bool:
    """Whether a file name asks for one of the formats of this module."""
    return path.suffix.lower() in GRAPHS


def check_thesaurus(path: Path, what: str, overwrite: bool) -> None:
    """Whether a thesaurus or a table can be written here in the format of its name, before the work."""
    suffix = path.suffix.lower()
    if suffix in OTHER_GRAPHS or suffix in UNWRITABLE:
        raise UsageError(f"{path} cannot be written as {suffix}; name it .ttl, .graphml, .tsv, .csv or .xlsx")
    if not is_graph(path):
        check_table(path, what, overwrite=overwrite)
        return
    _rdflib() if suffix == ".ttl" else _networkx()
    check_file(path, "thesaurus", lambda head: False, f"thesaurus{suffix}", overwrite)


def write_thesaurus(
    path: Path, rows: Iterable[Row], *, base: str = BASE, lang: str = "en", skos: str | None = None
) -> int:
    """Write pairs by the file's name: .ttl, .graphml, or a table (.tsv, .csv, .xlsx); returns how many.

    Rows have w1, w2 and label, and may have probability, together and sentence. Rows with a label such as `no` are
    dropped.

    Parameters
    ----------
    base
        Base URI of the concepts.
    lang
        Language of the labels.
    skos
        ``broader`` (w2 is the broader term), ``narrower`` or ``related`` for all pairs, instead of what their label
        means.
    """
    if skos is not None and skos not in SKOS_PROPERTIES:
        raise UsageError(f"--skos {skos} is unknown; choose one of {', '.join(SKOS_PROPERTIES)}")
    if not _URI.fullmatch(base):
        raise UsageError(f"--base {base!r} is not a base URI; write it like https://example.org/")
    if not _LANGUAGE.fullmatch(lang):
        raise UsageError(f"--lang {lang!r} is not a language tag; write it like en or pt-BR")
    kept = [row for row in rows if str(row.get("label", "")).lower() not in NO_LABELS]
    if not is_graph(path):
        write_table(path, _table(kept))
    else:
        data = _turtle(kept, base, lang, skos) if path.suffix.lower() == ".ttl" else _graphml(kept)
        with replacing(path) as out:
            out.write(data)
    return len(kept)


def _table(rows: Sequence[Row]) -> list[list[Cell]]:
    filled = [name for name in ATTRIBUTES if any(row.get(name) is not None for row in rows)]
    names = ["w1", "w2", "label", *filled]
    return [list(names), *([row.get(name) for name in names] for row in rows)]


def _turtle(rows: Sequence[Row], base: str, lang: str, skos: str | None) -> bytes:
    rdflib = _rdflib()
    names = rdflib.namespace
    graph = rdflib.Graph()
    iso = rdflib.Namespace(ISO_THES)
    own = rdflib.Namespace(f"{base}relation:")
    graph.bind("skos", names.SKOS)
    scheme = rdflib.URIRef(f"{base}scheme")
    graph.add((scheme, names.RDF.type, names.SKOS.ConceptScheme))

    def concept(word: str) -> Any:
        node = rdflib.URIRef(f"{base}concept:{quote(word, safe='')}")
        graph.add((node, names.RDF.type, names.SKOS.Concept))
        graph.add((node, names.SKOS.prefLabel, rdflib.Literal(word, lang=lang)))
        graph.add((node, names.SKOS.inScheme, scheme))
        return node

    for row in rows:
        label = str(row.get("label") or "related")
        one, two = concept(str(row["w1"])), concept(str(row["w2"]))
        plain = label.lower().replace("_", "-").replace(" ", "-")
        if skos is not None:
            relation = names.SKOS[skos]
        elif plain in BROADER:
            relation = names.SKOS.broader
        elif plain in PARTITIVE:
            graph.bind("iso-thes", iso)
            relation = iso.broaderPartitive
            graph.add((relation, names.RDFS.subPropertyOf, names.SKOS.broader))
        elif plain in RELATED:
            relation = names.SKOS.related
        else:
            relation = own[quote(plain, safe="")]
            graph.add((relation, names.RDFS.subPropertyOf, names.SKOS.semanticRelation))
            graph.add((relation, names.RDFS.label, rdflib.Literal(label)))
        graph.add((one, relation, two))
    text: str = graph.serialize(format="turtle")
    return text.encode()


def _graphml(rows: Sequence[Row]) -> bytes:
    networkx = _networkx()
    graph = networkx.MultiDiGraph()
    for row in rows:
        more = {name: row[name] for name in ATTRIBUTES if row.get(name) not in (None, "")}
        for word in (row["w1"], row["w2"]):
            graph.add_node(_xml(word), label=_xml(word))
        more = {name: _xml(value) if isinstance(value, str) else value for name, value in more.items()}
        graph.add_edge(_xml(row["w1"]), _xml(row["w2"]), label=_xml(row.get("label") or "related"), **more)
    return "\n".join(networkx.generate_graphml(graph)).encode() + b"\n"


def _xml(text: object) -> str:
    """Text without the control characters that XML cannot hold."""
    return "".join(c for c in str(text) if c in "\t\n\r" or ord(c) >= 32)
