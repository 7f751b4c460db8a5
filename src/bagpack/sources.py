"""Opening what contexts are counted from: a store, snippets of a search engine, or the store of an artefact."""

from __future__ import annotations

import os
from pathlib import Path

from bagpack.artefacts import read_document
from bagpack.contexts.targets import ContextSource
from bagpack.corpus.corpus import WHERE, Corpus, divide_name


def as_source(corpus: ContextSource | str | Path) -> ContextSource:
    return open_source(corpus) if isinstance(corpus, str | Path) else corpus


def open_source(name: str | Path) -> ContextSource:
    """Open what is at a path as a source of contexts, or `STORE where CONDITION`: the documents that satisfy it."""
    path, condition = divide_name(name)
    if condition is not None:
        from bagpack.corpus.subcorpus import open_corpus

        return open_corpus(name)
    if read_document(path).get("kind") == "snippets":
        from bagpack.engines.snippets import SnippetCorpus

        return SnippetCorpus.open(path)
    return Corpus.open(path)


def find_store(name: str | Path, content_hash: str, artefact: Path | None = None) -> str | Path | None:
    """Name of the store that an artefact was made from, by the name that it had then; None if there is none.

    That path was relative to the directory of the command, so it is looked up from here, then from the directories
    above the artefact, then next to it. A store with the right content is preferred.
    """
    path, condition = divide_name(name)
    if condition is not None:
        whole = find_store(path, "", artefact)
        return None if whole is None else f"{whole}{WHERE}{condition}"
    above = [] if artefact is None else list(Path(os.path.abspath(artefact)).parents)
    places = [path, *(place / path for place in above), *(place / path.name for place in above[:1])]
    there = [place for place in dict.fromkeys(places) if place.exists()]
    same = (p for p in there if read_document(p).get("content_hash") == content_hash)
    return next(same, there[0] if there else None)
