"""Opening what contexts are counted from: a store, snippets of a search engine, or the store of an artefact."""

from __future__ import annotations

import os
from pathlib import Path

from bagpack.contexts.source import ContextSource, CorpusSource
from bagpack.corpus.store.corpus import WHERE, Corpus
from bagpack.errors import BagpackError
from bagpack.files import read_json


def as_source(corpus: Corpus | ContextSource | str | Path) -> ContextSource:
    """A source from a corpus, a path to a store, or a source itself."""
    if isinstance(corpus, str | Path):
        return open_source(corpus)
    return CorpusSource(corpus) if isinstance(corpus, Corpus) else corpus


def open_source(path: str | Path) -> ContextSource:
    """Open what is at this path as a source of contexts."""
    path = Path(path)
    manifest = path / "manifest.json"
    if manifest.exists() and read_json(manifest).get("kind") == "snippets":
        from bagpack.engines.snippets.corpus import SnippetCorpus

        return SnippetCorpus.open(path)
    return CorpusSource(Corpus.open(path))


def find_store(path: str | Path, content_hash: str, artefact: Path | None = None) -> Path | None:
    """Path of the store that an artefact was made from, by the path that it had then; None if there is none.

    That path was relative to the directory of the command, so it is looked up from here, then from the directories
    above the artefact, then next to it. A store with the right content is preferred.
    """
    store, _, condition = str(path).partition(WHERE)
    if condition and not Path(path).exists():
        whole = find_store(store, "", artefact)
        return None if whole is None else Corpus.open(whole).where(condition).path
    path = Path(path)
    above = [] if artefact is None else list(Path(os.path.abspath(artefact)).parents)
    places = [path, *(place / path for place in above), *(place / path.name for place in above[:1])]
    there = [place for place in dict.fromkeys(places) if place.exists()]
    return next((place for place in there if _content_of(place) == content_hash), there[0] if there else None)


def _content_of(path: Path) -> str | None:
    try:
        manifest = read_json(path / "manifest.json")
    except (BagpackError, OSError):
        return None
    return str(manifest.get("content_hash")) if isinstance(manifest, dict) else None
