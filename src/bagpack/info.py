"""What an artefact on disk is, whatever its kind."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from bagpack.artefacts import KINDS, MANIFEST, is_unfinished, open_artefact
from bagpack.errors import StoreError
from bagpack.files import digest, read_json

BASIS = "basis"
KINDS_AT = {  # module, kind, and what finds wrong content with right checksums
    "snippets": ("bagpack.engines.snippets", "SNIPPETS", ""),
    "pair-matrix": ("bagpack.vectors.storage", "MATRIX", "verify_matrix"),
    "bagpack-model": ("bagpack.learn.model_io", "MODEL", "verify_model"),
    "engine": ("bagpack.engines.tantivy", "INDEX", ""),
    "word-vectors": ("bagpack.vectors.words", "KIND", ""),
}
HIDDEN = ("card", "checksums", "data", "seal", "manifest", "calibration")
HEAD = 1 << 12  # characters that are read to recognise a basis


def kind_of(path: Path) -> str:
    """One of `KINDS`, or a basis; a sentence for anything else."""
    if not path.exists():
        raise StoreError(f"there is nothing at {path}; check the name")
    if path.is_file() and _is_basis(path):
        return BASIS
    manifest = read_json(path / MANIFEST) if (path / MANIFEST).exists() else None
    kind = manifest.get("kind") if isinstance(manifest, dict) else "corpus" if is_unfinished(path) else None
    if kind not in KINDS:
        raise StoreError(f"{path} is not a BagPack artefact; name a store, a matrix, a model, a basis, ...")
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
        from bagpack.basis import CHECKSUM, Basis

        basis = Basis.open(path)
        sizes = {"terms": len(basis), "unigrams": len(basis.unigrams), "bigrams": len(basis.bigrams)}
        # A basis that was printed, not saved, has no checksum: lines that it lost cannot be found.
        sizes["has_checksum"] = f"\n{CHECKSUM}" in path.read_text(encoding="utf-8-sig")
        return {"kind": BASIS, "path": str(path), **sizes, "basis_hash": basis.hash}
    if kind == "corpus":
        from bagpack.corpus.corpus import Corpus
        from bagpack.vectors.words import stored_vectors

        vectors = stored_vectors(path)
        made = {name: vectors.manifest.get(name) for name in ("words", "dimensions")} if vectors else {}
        return {**Corpus.open(path).info(), **({"word_vectors": made} if vectors else {})}
    module, name, _ = KINDS_AT[kind]
    artefact = open_artefact(path, getattr(import_module(module), name))
    facts = {**artefact.manifest, **artefact.manifest.get("manifest", {})}  # a model's has scores and data
    shown = {name: value for name, value in facts.items() if name not in HIDDEN}
    content = digest(json.dumps(artefact.manifest["checksums"], sort_keys=True).encode())
    shown |= {"kind": kind.removeprefix("bagpack-"), "path": str(path)}
    return {**shown, "bytes": artefact.size, "content_hash": content}


def damages(path: Path) -> list[str]:
    """Sentences about an artefact's damaged files; none if it is whole."""
    kind = kind_of(path)
    if kind == BASIS:
        from bagpack.basis import Basis

        return [f"{path} {problem}" for problem in Basis.problems(path)]
    if kind == "corpus":
        from bagpack.corpus.corpus import Corpus
        from bagpack.corpus.format import read_manifest
        from bagpack.vectors.words import stored_vectors

        vectors = stored_vectors(path)
        return [*Corpus(path, read_manifest(path)).verify(), *(vectors.damages() if vectors else ())]
    module, name, verify = KINDS_AT[kind]
    found = import_module(module)
    return getattr(found, verify)(path) if verify else open_artefact(path, getattr(found, name)).damages()
