"""What an artefact on disk is, whatever its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bagpack.errors import StoreError
from bagpack.files import read_json, unfinished_or

MODEL = "model"


def kind_of(path: Path) -> str:
    """corpus, snippets, pair-matrix or model; a sentence for anything else."""
    if not path.exists():
        raise StoreError(f"there is nothing at {path}; {unfinished_or(path, 'check the name')}")
    if (path / "model.json").exists():
        return MODEL
    if not (path / "manifest.json").exists():
        raise StoreError(
            f"{path} is not a BagPack artefact (it has no manifest.json); name a store, snippets, a matrix or a model"
        )
    manifest = read_json(path / "manifest.json")
    kind = str(manifest.get("kind")) if isinstance(manifest, dict) else "none"
    if kind not in ("corpus", "snippets", "pair-matrix"):
        raise StoreError(f"{path} is of a kind that this BagPack does not know: {kind!r}; update BagPack")
    return kind


def describe(path: Path) -> dict[str, Any]:
    """Facts about an artefact."""
    kind = kind_of(path)
    if kind == MODEL:
        return _describe_model(path)
    if kind == "pair-matrix":
        from bagpack.vectors.storage import describe_matrix

        return describe_matrix(path)
    if kind == "snippets":
        from bagpack.engines.snippets import SnippetCorpus

        return SnippetCorpus.open(path).info()
    from bagpack.corpus.store import Corpus

    return Corpus.open(path).info()


def damages(path: Path) -> list[str]:
    """Sentences about an artefact's damaged files; none if it is whole."""
    kind = kind_of(path)
    if kind == MODEL:
        from bagpack.learn import load_model

        load_model(path)  # every array is read and its shape checked; models carry no checksums
        return []
    if kind == "pair-matrix":
        from bagpack.vectors.storage import verify_matrix

        return list(verify_matrix(path))
    if kind == "snippets":
        from bagpack.engines.snippets import SnippetCorpus

        return SnippetCorpus.open(path).verify()
    from bagpack.corpus.store import Corpus, read_manifest

    return Corpus(path, read_manifest(path)).verify()


def _describe_model(path: Path) -> dict[str, Any]:
    from bagpack.learn import load_model

    model = load_model(path)
    manifest = {name: value for name, value in model.manifest.items() if name != "bigrams"}
    return {
        "kind": MODEL,
        "path": str(path),
        "predicts": model.kind,
        "labels": [str(label) for label in model.classes],
        "condition": model.condition,
        "preset": model.preset,
        "features": len(model.feature_names()),
        "settings": dict(model.settings),
        **manifest,
    }
