"""What an artefact on disk is, whatever its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bagpack.artefacts import KINDS, MANIFEST, open_artefact
from bagpack.errors import StoreError
from bagpack.files import read_json

BASIS = "basis"
FIRST_TERMS = 10
HEAD = 1 << 12  # characters that are read to recognise a basis


def kind_of(path: Path) -> str:
    """One of `KINDS`, or a basis; a sentence for anything else."""
    from bagpack.corpus.format import is_unfinished

    if not path.exists():
        raise StoreError(f"there is nothing at {path}; check the name")
    if path.is_file() and _is_basis(path):
        return BASIS
    if is_unfinished(path):
        raise StoreError(f"an unfinished build is at {path}; bagpack index --resume continues it")
    manifest = read_json(path / MANIFEST) if (path / MANIFEST).exists() else None
    kind = manifest.get("kind") if isinstance(manifest, dict) else None
    if kind not in KINDS:
        raise StoreError(
            f"{path} is not a BagPack artefact; name a store, snippets, a matrix, a model, a basis or a search index"
        )
    return str(kind)


def _is_basis(path: Path) -> bool:
    """Whether a file begins as a basis does, whoever wrote it."""
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        lines = file.read(HEAD).split("\n")
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return first.startswith(("kind\tterm", "unigram\t", "bigram\t"))


def describe(path: Path) -> dict[str, Any]:
    """Facts about an artefact."""
    return _look(path, verify=False)[0]


def damages(path: Path) -> list[str]:
    """Sentences about an artefact's damaged files; none if it is whole."""
    return _look(path, verify=True)[1]


def _look(path: Path, verify: bool) -> tuple[dict[str, Any], list[str]]:
    """Each kind describes itself, or checks its files."""
    kind = kind_of(path)
    if kind == BASIS:
        from bagpack.basis import Basis

        if verify:
            return {}, [f"{path} {problem}" for problem in Basis.problems(path)]
        return _describe_basis(path), []
    if kind == "bagpack-model":
        from bagpack.learn.model_io import verify_model

        return ({}, list(verify_model(path))) if verify else (_describe_model(path), [])
    if kind == "pair-matrix":
        from bagpack.vectors.storage import describe_matrix, verify_matrix

        return ({}, list(verify_matrix(path))) if verify else (describe_matrix(path), [])
    if kind == "engine":
        from bagpack.engines.tantivy import INDEX

        index = open_artefact(path, INDEX)
        facts = {name: value for name, value in index.manifest.items() if name not in ("checksums", "data")}
        return {**facts, "path": str(path)}, index.damages() if verify else []
    if kind == "snippets":
        from bagpack.engines.snippets import SnippetCorpus

        snippets = SnippetCorpus.open(path)
        return snippets.info(), snippets.verify() if verify else []
    from bagpack.corpus.corpus import Corpus
    from bagpack.corpus.format import read_manifest
    from bagpack.vectors.words import stored_vectors

    vectors = stored_vectors(path)
    if verify:
        return {}, [*Corpus(path, read_manifest(path)).verify(), *(vectors.damages() if vectors else ())]
    facts = Corpus.open(path).info()
    if vectors is not None:
        made = {name: vectors.manifest[name] for name in ("words", "dimensions")}
        facts["word_vectors"] = {**made, "bytes": vectors.size}
    return facts, []


def _describe_basis(path: Path) -> dict[str, Any]:
    from bagpack.basis import Basis

    basis = Basis.open(path)
    bigrams = map(" ".join, basis.bigrams[:FIRST_TERMS])
    return {
        "kind": BASIS,
        "path": str(path),
        "terms": len(basis),
        "unigrams": len(basis.unigrams),
        "bigrams": len(basis.bigrams),
        "most_frequent_unigrams": dict(zip(basis.unigrams[:FIRST_TERMS], basis.unigram_counts, strict=False)),
        "most_frequent_bigrams": dict(zip(bigrams, basis.bigram_counts, strict=False)),
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
        "training_pairs": 0 if model.trained is None else len(model.trained),
        "source": {"path": model.source_path, "content_hash": model.source_hash},
        "counting": model.counting.to_dict() if model.counting else None,
        "answers": "always" if model.threshold is None else model.threshold.sentence(),
        **model.manifest,
    }
