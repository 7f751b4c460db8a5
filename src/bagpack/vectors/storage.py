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
from bagpack.basis import Basis
from bagpack.contexts.counting import Csr
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.strings import Strings
from bagpack.errors import StoreError
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
KEY_SEPARATOR = "\x1f"  # between the keys of a multi-word target

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
}
LISTS = ("names", "targets")


def save_matrix(matrix: PairMatrix, path: Path, overwrite: bool = False) -> None:
    """Write a matrix as a directory; it gets its name when it is whole."""
    if path.exists() and not overwrite:
        raise StoreError(f"{path} exists already; choose another --out, or --overwrite it")
    if path.exists() and not (path / "manifest.json").exists():
        raise StoreError(f"{path} is not a BagPack artefact, so it is left alone; choose another --out")
    beside = path.with_name(path.name + ".new")
    remove_tree(beside)
    with disk_errors(beside):
        beside.mkdir(parents=True)
    names = list(matrix.resolved)
    number = {name: i for i, name in enumerate(names)}
    target_number = matrix.words.number
    arrays: dict[str, NDArray[Any]] = {
        **_csr_arrays("words", matrix.words.rows),
        "words.found": matrix.words.found,
        **_csr_arrays("pairs", matrix.couples.rows),
        "pairs.found": matrix.couples.found,
        "pairs.taken": matrix.couples.taken,
        "pairs.targets": _numbers(target_number[t] for pair in matrix.couples.pairs for t in pair),
        "names.target": _numbers(
            -1 if (t := matrix.resolved[name]) is None else target_number[t] for name in names
        ),
        "rows": _numbers(number[word] for pair in matrix.pairs for word in pair),
    }
    checksums = {name: write_array(beside / name, array, ARRAYS[name]) for name, array in arrays.items()}
    targets = [KEY_SEPARATOR.join(target.keys) for target in matrix.words.targets]
    for name, items in zip(LISTS, (names, targets), strict=True):
        strings = Strings.of(items)
        checksums[f"{name}.blob"] = write_array(beside / f"{name}.blob", strings.blob, "|u1")
        checksums[f"{name}.offsets"] = write_array(beside / f"{name}.offsets", strings.offsets, "<i8")
    matrix.basis.save(beside / "basis.tsv")
    checksums["basis.tsv"] = digest_file(beside / "basis.tsv")
    manifest = {
        "kind": KIND,
        "format_version": FORMAT_VERSION,
        "pairs": len(matrix),
        "words": len(matrix.words.targets),
        "distinct_pairs": len(matrix.couples.pairs),
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
    write_json(beside / "manifest.json", manifest)
    if path.exists():
        old = path.with_name(path.name + ".old")
        remove_tree(old)
        os.replace(path, old)
        os.replace(beside, path)
        remove_tree(old)
    else:
        os.replace(beside, path)


def _numbers(items: Any) -> NDArray[np.int64]:
    return np.fromiter(items, np.int64)


def _csr_arrays(name: str, rows: Csr) -> dict[str, NDArray[Any]]:
    return {f"{name}.indptr": rows.indptr, f"{name}.indices": rows.indices, f"{name}.data": rows.data}


def read_matrix_manifest(path: Path) -> dict[str, Any]:
    """The manifest, checked for kind and version."""
    if not (path / "manifest.json").exists():
        state = "is not a BagPack artefact" if path.exists() else "does not exist"
        raise StoreError(f"{path} {state}; make a matrix with bagpack vectors STORE PAIRS.tsv --out {path}")
    manifest: dict[str, Any] = read_json(path / "manifest.json")
    if manifest.get("kind") != KIND:
        raise StoreError(f"{path} is a BagPack {manifest.get('kind')}, not a {KIND}; name a matrix")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise StoreError(
            f"{path} has format version {manifest.get('format_version')}, this BagPack reads {FORMAT_VERSION}; update "
            f"BagPack, or count the pairs again"
        )
    return manifest


def open_matrix(path: Path) -> PairMatrix:
    """Open a matrix that `save_matrix` wrote."""
    from bagpack.vectors.matrix import PairMatrix, PairTable, WordTable

    manifest = read_matrix_manifest(path)
    arrays = {name: map_array(path / name, dtype) for name, dtype in ARRAYS.items()}
    basis = Basis.open(path / "basis.tsv")
    if basis.hash != manifest["basis_hash"]:
        raise StoreError(f"{path / 'basis.tsv'} was changed after the matrix was counted; count it again")
    names, targets = (_list(path, name) for name in LISTS)
    known = tuple(Target(tuple(target.split(KEY_SEPARATOR))) for target in targets)
    resolved = {
        name: None if number < 0 else known[number]
        for name, number in zip(names, arrays["names.target"].tolist(), strict=True)
    }
    couples = arrays["pairs.targets"].reshape(-1, 2).tolist()
    rows = arrays["rows"].reshape(-1, 2).tolist()
    width = len(basis)
    return PairMatrix(
        tuple((names[one], names[two]) for one, two in rows),
        resolved,
        WordTable(known, _csr(arrays, "words", len(known), 2 * width), arrays["words.found"]),
        PairTable(
            tuple((known[one], known[two]) for one, two in couples),
            _csr(arrays, "pairs", len(couples), 6 * width),
            arrays["pairs.found"].reshape(-1, 2),
            arrays["pairs.taken"].reshape(-1, 2),
        ),
        basis,
        CountSettings.from_dict(manifest["settings"]),
        manifest["source"]["path"],
        manifest["source"]["content_hash"],
    )


def _csr(arrays: dict[str, NDArray[Any]], name: str, rows: int, width: int) -> Csr:
    parts = (arrays[f"{name}.data"], arrays[f"{name}.indices"], arrays[f"{name}.indptr"])
    if parts[2].size != rows + 1 or parts[0].size != parts[1].size:
        raise StoreError(
            f"the {name} of the matrix do not fit each other; it is damaged: count the pairs again"
        )
    return sparse.csr_array(parts, shape=(rows, width), copy=False)


def _list(path: Path, name: str) -> list[str]:
    strings = Strings(map_array(path / f"{name}.blob", "|u1"), map_array(path / f"{name}.offsets", "<i8"))
    return [item.decode() for item in strings]


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
    from bagpack.corpus.shard import damaged_files

    return damaged_files(path, read_matrix_manifest(path)["checksums"])
