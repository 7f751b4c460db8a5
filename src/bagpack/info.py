"""What an artefact on disk is, whatever its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bagpack.artefacts import damaged_files, read_sealed
from bagpack.errors import StoreError
from bagpack.files import read_json, unfinished_or

MODEL = "model"
ENGINE = "engine"
ENGINE_DOCUMENT = "bagpack-engine.json"
BASIS = "basis"
FIRST_TERMS = 10
HEAD = 1 << 12  # characters that are read to recognise a basis


def kind_of(path: Path) -> str:
    """corpus, snippets, pair-matrix, model, basis or engine; a sentence for anything else."""
    if not path.exists():
        from bagpack.corpus.store.corpus import divide_name

        store, condition = divide_name(path)
        if condition is not None and store.exists():
            raise StoreError(f"{path} is a part of a store, and this is about the whole; name {store}")
        raise StoreError(f"there is nothing at {path}; {unfinished_or(path, 'check the name')}")
    if (path / "model.json").exists():
        return MODEL
    if (path / ENGINE_DOCUMENT).exists():
        return ENGINE
    if path.is_file() and _is_basis(path):
        return BASIS
    if not (path / "manifest.json").exists():
        lacking = "" if path.is_file() else " (it has no manifest.json)"
        raise StoreError(
            f"{path} is not a BagPack artefact{lacking}; name a store, snippets, a matrix, a model, a basis or a "
            f"search index"
        )
    manifest = read_json(path / "manifest.json")
    kind = str(manifest.get("kind")) if isinstance(manifest, dict) else "none"
    if kind not in ("corpus", "snippets", "pair-matrix"):
        raise StoreError(f"{path} is of a kind that this BagPack does not know: {kind!r}; update BagPack")
    return kind


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
    if kind == ENGINE:
        document = read_sealed(path / ENGINE_DOCUMENT).items()
        facts = {name: value for name, value in document if name not in ("kind", "checksums")}
        return {"kind": ENGINE, "path": str(path), **facts}
    if kind == "pair-matrix":
        from bagpack.vectors.storage import describe_matrix

        return describe_matrix(path)
    if kind == "snippets":
        from bagpack.engines.snippets.corpus import SnippetCorpus

        return SnippetCorpus.open(path).info()
    from bagpack.corpus.store.corpus import Corpus

    return Corpus.open(path).info()


def damages(path: Path) -> list[str]:
    """Sentences about an artefact's damaged files; none if it is whole."""
    kind = kind_of(path)
    if kind == BASIS:
        from bagpack.basis import Basis

        return [f"{path} {problem}" for problem in Basis.problems(path)]
    if kind == MODEL:
        from bagpack.learn.model_io import verify_model

        return list(verify_model(path))
    if kind == ENGINE:
        return damaged_files(path, read_sealed(path / ENGINE_DOCUMENT).get("checksums", {}))
    if kind == "pair-matrix":
        from bagpack.vectors.storage import verify_matrix

        return list(verify_matrix(path))
    if kind == "snippets":
        from bagpack.engines.snippets.corpus import SnippetCorpus

        return SnippetCorpus.open(path).verify()
    from bagpack.corpus.store.corpus import Corpus
    from bagpack.corpus.store.manifest import read_manifest

    return Corpus(path, read_manifest(path)).verify()


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
        "kind": MODEL,
        "path": str(path),
        "predicts": model.kind,
        "labels": [str(label) for label in model.classes],
        "condition": model.condition,
        "preset": model.preset,
        "features": len(model.feature_names()),
        "terms": len(model.terms),
        "training_pairs": 0 if model.trained is None else len(model.trained),
        "source": {"path": model.source_path, "content_hash": model.source_hash},
        "counting": model.counting.to_dict() if model.counting else None,
        "answers": "always" if model.threshold is None else model.threshold.sentence(),
        "settings": dict(model.settings),
        **model.manifest,
    }
