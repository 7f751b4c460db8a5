"""What an artefact on disk is, whatever its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bagpack.artefacts import KINDS, MANIFEST, read_document
from bagpack.errors import StoreError
from bagpack.files import read_json

BASIS, MODEL = "basis", "bagpack-model"
WORD_VECTORS = "word-vectors"  # in a store
FIRST_TERMS = 10
HEAD = 1 << 12  # characters that are read to recognise a basis


def kind_of(path: Path) -> str:
    """One of `KINDS`, or a basis; a sentence for anything else."""
    from bagpack.corpus.format import is_unfinished

    if not path.exists():
        from bagpack.corpus.corpus import divide_name

        store, condition = divide_name(path)
        if condition is not None and store.exists():
            raise StoreError(f"{path} is a part of a store, and this is about the whole; name {store}")
        raise StoreError(f"there is nothing at {path}; check the name")
    if path.is_file() and _is_basis(path):
        return BASIS
    if is_unfinished(path):
        raise StoreError(f"an unfinished build is at {path}; bagpack index --resume continues it")
    if not (path / MANIFEST).exists():
        lacking = "" if path.is_file() else f" (it has no {MANIFEST})"
        raise StoreError(
            f"{path} is not a BagPack artefact{lacking}; name a store, snippets, a matrix, a model, a basis or a "
            f"search index"
        )
    read_json(path / MANIFEST)  # a damaged one is a sentence
    kind = read_document(path).get("kind")
    if kind not in KINDS:
        raise StoreError(f"{path} is of a kind that this BagPack does not know: {kind!r}; update BagPack")
    return str(kind)


def _is_basis(path: Path) -> bool:
    """Whether a file begins as a basis does, whoever wrote it."""
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        lines = file.read(HEAD).split("\n")
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return first.startswith(("kind\tterm", "unigram\t", "bigram\t"))


def describe(path: Path) -> dict[str, Any]:
    """Facts about an artefact."""
    kind = kind_of(path)
    if kind == BASIS:
        return _describe_basis(path)
    if kind == MODEL:
        return _describe_model(path)
    if kind == "engine":
        from bagpack.artefacts import open_artefact
        from bagpack.engines.tantivy import INDEX

        manifest = open_artefact(path, INDEX).manifest
        facts = {name: value for name, value in manifest.items() if name not in ("checksums", "data")}
        return {**facts, "path": str(path)}
    if kind == "pair-matrix":
        from bagpack.vectors.storage import describe_matrix

        return describe_matrix(path)
    if kind == "snippets":
        from bagpack.engines.snippets import SnippetCorpus

        return SnippetCorpus.open(path).info()
    from bagpack.corpus.corpus import Corpus

    return {**Corpus.open(path).info(), **_word_vectors(path)}


def _word_vectors(path: Path) -> dict[str, Any]:
    """What the word vectors of a store are, if a search has made them."""
    if not (path / WORD_VECTORS).exists():
        return {}
    from bagpack.vectors.words import stored_vectors

    stored = stored_vectors(path)
    if stored is None:
        return {}
    facts = {name: stored.manifest[name] for name in ("words", "dimensions")}
    return {WORD_VECTORS.replace("-", "_"): {**facts, "bytes": stored.size}}


def damages(path: Path) -> list[str]:
    """Sentences about an artefact's damaged files; none if it is whole."""
    kind = kind_of(path)
    if kind == BASIS:
        from bagpack.basis import Basis

        return [f"{path} {problem}" for problem in Basis.problems(path)]
    if kind == MODEL:
        from bagpack.learn.model_io import verify_model

        return list(verify_model(path))
    if kind == "engine":
        from bagpack.artefacts import open_artefact
        from bagpack.engines.tantivy import INDEX

        return open_artefact(path, INDEX).damages()
    if kind == "pair-matrix":
        from bagpack.vectors.storage import verify_matrix

        return list(verify_matrix(path))
    if kind == "snippets":
        from bagpack.engines.snippets import SnippetCorpus

        return SnippetCorpus.open(path).verify()
    from bagpack.corpus.corpus import Corpus
    from bagpack.corpus.format import read_manifest

    found = Corpus(path, read_manifest(path)).verify()
    if (path / WORD_VECTORS).exists():
        from bagpack.vectors.words import stored_vectors

        stored = stored_vectors(path)
        found += [] if stored is None else stored.damages()
    return found


def _describe_basis(path: Path) -> dict[str, Any]:
    from bagpack.basis import Basis

    basis = Basis.open(path)
    bigrams = [f"{first} {second}" for first, second in basis.bigrams]
    return {
        "kind": BASIS,
        "path": str(path),
        "terms": len(basis),
        "unigrams": len(basis.unigrams),
        "bigrams": len(basis.bigrams),
        "most_frequent_unigrams": dict(
            zip(basis.unigrams[:FIRST_TERMS], basis.unigram_counts[:FIRST_TERMS], strict=True)
        ),
        "most_frequent_bigrams": dict(
            zip(bigrams[:FIRST_TERMS], basis.bigram_counts[:FIRST_TERMS], strict=True)
        ),
        "basis_hash": basis.hash,
    }


def _describe_model(path: Path) -> dict[str, Any]:
    from bagpack.learn import load_model

    model = load_model(path)
    return {
        "kind": "model",
        "path": str(path),
        "predicts": model.kind,
        "labels": [str(label) for label in model.classes],
        "condition": model.condition,
        "preset": model.preset.name,
        "features": len(model.feature_names()),
        "terms": len(model.terms),
        "training_pairs": 0 if model.trained is None else len(model.trained),
        "source": {"path": model.source_path, "content_hash": model.source_hash},
        "counting": model.counting.to_dict() if model.counting else None,
        "answers": "always" if model.threshold is None else model.threshold.sentence(),
        "settings": dict(model.settings),
        **model.manifest,
    }
