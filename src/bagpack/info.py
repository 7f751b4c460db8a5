"""What an artefact on disk is, whatever its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bagpack.errors import StoreError
from bagpack.files import read_json


def damages(path: Path) -> list[str]:
    """Sentences about damaged files of a store or a matrix; none if it is whole."""
    from bagpack.corpus.store import Corpus, read_manifest
    from bagpack.vectors.storage import is_matrix, verify_matrix

    return list(verify_matrix(path)) if is_matrix(path) else Corpus(path, read_manifest(path)).verify()


def describe(path: Path) -> dict[str, Any]:
    """Facts about a store or another artefact."""
    if not path.exists():
        raise StoreError(f"there is nothing at {path}; check the name")
    if (path / "model.json").exists():
        return _describe_model(path)
    if not (path / "manifest.json").exists():
        raise StoreError(f"{path} is not a BagPack artefact (it has no manifest.json)")
    kind = read_json(path / "manifest.json").get("kind")
    if kind == "corpus":
        from bagpack.corpus.store import Corpus

        return Corpus.open(path).info()
    if kind == "pair-matrix":
        from bagpack.vectors.storage import describe_matrix

        return describe_matrix(path)
    raise StoreError(f"{path} is of a kind that this BagPack does not know: {kind!r}; update BagPack")


def _describe_model(path: Path) -> dict[str, Any]:
    from bagpack.learn import load_model

    model = load_model(path)
    manifest = {name: value for name, value in model.manifest.items() if name != "bigrams"}
    return {
        "kind": "model",
        "path": str(path),
        "predicts": model.kind,
        "labels": [str(label) for label in model.classes],
        "condition": model.condition,
        "preset": model.preset,
        "features": len(model.feature_names()),
        "settings": dict(model.settings),
        **manifest,
    }
