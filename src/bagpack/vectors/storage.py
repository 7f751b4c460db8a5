"""A pair matrix on disk: arrays, a basis, and a manifest; written beside and renamed. docs/matrix.md has the bytes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack._version import __version__
from bagpack.artefacts import damaged_files, replace_tree, seal_of
from bagpack.basis import Basis
from bagpack.contexts.count import Csr
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.strings import Strings
from bagpack.errors import StoreError, UsageError
from bagpack.files import (
    digest,
    digest_file,
    disk_errors,
    map_array,
    read_json,
    remove_tree,
    write_array,
    write_json,
)

if TYPE_CHECKING:
    from bagpack.vectors.matrix import PairMatrix

FORMAT_VERSION = 1
KIND = "pair-matrix"

ARRAYS = {
    "words.indptr": "<i8",
    "words.indices": "<i4",
    "words.data": "<i4",
    "words.found": "<i8",
    "pairs.indptr": "<i8",
    "pairs.indices": "<i4",
    "pairs.data": "<i4",
    "pairs.found": "<i8",
    "pairs.taken": "<i8",
    "pairs.targets": "<i8",
    "names.target": "<i8",
    "rows": "<i8",
    "names.blob": "|u1",
    "names.offsets": "<i8",
    "targets.blob": "|u1",
    "targets.offsets": "<i8",
}
LISTS = ("names", "targets")


def save_matrix(matrix: PairMatrix, path: Path, overwrite: bool = False) -> None:
    """Write a matrix as a directory; it gets its name when it is whole."""
    if path.exists() and not overwrite:
        raise StoreError(f"{path} exists already; choose another --out, or --overwrite it")
    check_place(path)
    beside = path.with_name(path.name + ".new")
    try:
        with disk_errors(path):
            remove_tree(beside)
            beside.mkdir(parents=True)
            _write(matrix, beside)
            replace_tree(beside, path)
    finally:
        if beside.is_dir():
            remove_tree(beside)


def check_place(path: Path) -> None:
    """Whether a matrix can be put here; told before the counting, not after it."""
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    if not os.access(path.parent, os.W_OK):
        raise StoreError(f"{path} cannot be written: {path.parent} is read-only; choose another --out")
    if path.exists() and not is_matrix(path):
        raise StoreError(f"{path} is not a matrix, so it is left alone; choose another --out")


def is_matrix(path: Path) -> bool:
    """Whether a matrix, whole or damaged, stands here."""
    manifest = path / "manifest.json"
    found = read_json(manifest) if manifest.is_file() else None
    return isinstance(found, dict) and found.get("kind") == KIND


def _write(matrix: PairMatrix, directory: Path) -> None:
    arrays: dict[str, NDArray[Any]] = {
        **_csr_arrays("words", matrix.words.rows),
        "words.found": matrix.words.found,
        **_csr_arrays("pairs", matrix.couples.rows),
        "pairs.found": matrix.couples.found,
        "pairs.taken": matrix.couples.taken,
        "pairs.targets": matrix.couples.members,
        "names.target": matrix.name_targets,
        "rows": matrix.rows,
    }
    for name, strings in zip(LISTS, (matrix.names, matrix.words.keys), strict=True):
        arrays |= {f"{name}.blob": strings.blob, f"{name}.offsets": strings.offsets}
    checksums = {name: write_array(directory / name, array, ARRAYS[name]) for name, array in arrays.items()}
    matrix.basis.save(directory / "basis.tsv")
    checksums["basis.tsv"] = digest_file(directory / "basis.tsv")
    manifest = {
        "kind": KIND,
        "format_version": FORMAT_VERSION,
        "pairs": len(matrix),
        "words": len(matrix.words.keys),
        "distinct_pairs": len(matrix.couples.members),
        "terms": len(matrix.basis),
        "unigrams": len(matrix.basis.unigrams),
        "basis_hash": matrix.basis.hash,
        "settings": matrix.settings.to_dict(),
        "source": {"path": matrix.source_path, "content_hash": matrix.source_hash},
        "unknown_words": matrix.unknown_words,
        "capped_words": matrix.capped_words,
        "capped_pairs": matrix.capped_pairs,
        "bagpack": __version__,
        "checksums": checksums,
    }
    write_json(directory / "manifest.json", {**manifest, "seal": seal_of(manifest)})


def _csr_arrays(name: str, rows: Csr) -> dict[str, NDArray[Any]]:
    if rows.data.size and rows.data.max() > np.iinfo(np.int32).max:
        raise UsageError(f"a count of {rows.data.max():,} does not fit into the matrix format; give --limit")
    return {f"{name}.indptr": rows.indptr, f"{name}.indices": rows.indices, f"{name}.data": rows.data}


def read_matrix_manifest(path: Path) -> dict[str, Any]:
    """The manifest, checked for kind and version."""
    if not (path / "manifest.json").exists():
        state = "is not a BagPack artefact" if path.exists() else "does not exist"
        raise StoreError(f"{path} {state}; make a matrix with bagpack vectors STORE PAIRS.tsv --out {path}")
    manifest: dict[str, Any] = read_json(path / "manifest.json")
    kind = manifest.get("kind") if isinstance(manifest, dict) else None
    if kind != KIND:
        raise StoreError(f"{path} is a BagPack {kind}, not a {KIND}; name a matrix that bagpack vectors made")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise StoreError(
            f"{path} has format version {manifest.get('format_version')}, this BagPack reads {FORMAT_VERSION}; update "
            f"BagPack, or count the pairs again"
        )
    if seal_of(manifest) != manifest.get("seal"):
        raise StoreError(
            f"{path / 'manifest.json'} does not match its own seal; restore it from a copy, or count the pairs again"
        )
    return manifest


def open_matrix(path: Path) -> PairMatrix:
    """Open a matrix that `save_matrix` wrote."""
    from bagpack.vectors.matrix import PairMatrix
    from bagpack.vectors.tables import PairTable, WordTable

    manifest = read_matrix_manifest(path)
    arrays = {name: map_array(path / name, dtype) for name, dtype in ARRAYS.items()}
    basis = Basis.open(path / "basis.tsv")
    if basis.hash != manifest["basis_hash"]:
        raise StoreError(
            f"{path / 'basis.tsv'} was changed after the matrix was counted; count the pairs again, with --basis"
        )
    names, targets = (Strings(arrays[f"{name}.blob"], arrays[f"{name}.offsets"]) for name in LISTS)
    if not _fits(arrays, manifest):
        raise StoreError(
            f"the files of {path} do not fit each other; bagpack verify {path} tells which is damaged"
        )
    terms = len(basis)
    return PairMatrix(
        names,
        arrays["names.target"],
        arrays["rows"].reshape(-1, 2),
        WordTable(targets, _csr(arrays, "words", len(targets), 2 * terms), arrays["words.found"]),
        PairTable(
            arrays["pairs.targets"].reshape(-1, 2),
            _csr(arrays, "pairs", manifest["distinct_pairs"], 6 * terms),
            arrays["pairs.found"].reshape(-1, 2),
            arrays["pairs.taken"].reshape(-1, 2),
        ),
        basis,
        CountSettings.from_dict(manifest["settings"]),
        manifest["source"]["path"],
        manifest["source"]["content_hash"],
        path,
    )


def _fits(arrays: dict[str, NDArray[Any]], manifest: dict[str, Any]) -> bool:
    """Whether the sizes are right: what works with the arrays does not check bounds."""
    words, pairs = manifest["words"], manifest["distinct_pairs"]
    names = arrays["names.target"].size
    sizes = {
        "rows": 2 * manifest["pairs"],
        "names.offsets": names + 1,
        "targets.offsets": words + 1,
        "words.found": words,
        "words.indptr": words + 1,
        "words.data": arrays["words.indices"].size,
        "pairs.found": 2 * pairs,
        "pairs.taken": 2 * pairs,
        "pairs.targets": 2 * pairs,
        "pairs.indptr": pairs + 1,
        "pairs.data": arrays["pairs.indices"].size,
    }
    last = {"names.offsets": "names.blob", "targets.offsets": "targets.blob"} | {
        f"{table}.indptr": f"{table}.indices" for table in ("words", "pairs")
    }
    return all(arrays[name].size == size for name, size in sizes.items() if name in arrays) and all(
        arrays[name][-1] == arrays[other].size for name, other in last.items()
    )


def _csr(arrays: dict[str, NDArray[Any]], name: str, rows: int, width: int) -> Csr:
    data, indices, indptr = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    if data.size < 1 << 31:  # scipy wants one type for both, and would read and copy all indices
        indptr = indptr.astype(np.int32)
    table = sparse.csr_array((data, indices, indptr), shape=(rows, width), copy=False)
    table.has_sorted_indices = True
    table.has_canonical_format = True
    return table


def describe_matrix(path: Path) -> dict[str, Any]:
    """What `bagpack info` shows."""
    manifest = read_matrix_manifest(path)
    on_disk = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return {
        **{name: value for name, value in manifest.items() if name != "checksums"},
        "path": str(path),
        "bytes": on_disk,
        "content_hash": digest(json.dumps(manifest["checksums"], sort_keys=True).encode()),
    }


def verify_matrix(path: Path) -> Sequence[str]:
    """Sentences about damaged files."""
    return damaged_files(path, read_matrix_manifest(path)["checksums"])
