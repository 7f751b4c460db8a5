"""A matrix on disk: arrays, a basis, and a manifest. docs/matrix.md has the bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bagpack._version import __version__
from bagpack.artefacts import (
    check_replaceable,
    check_writable,
    damaged_files,
    member,
    new_directory,
    read_document,
    read_sealed,
    read_unreplaced,
    write_sealed,
)
from bagpack.basis import Basis
from bagpack.contexts.distribute import Csr, make_rows
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.format import Array, Numbers, ascending, below, check, damages, utf8
from bagpack.corpus.store.strings import Strings
from bagpack.errors import StoreError, UsageError
from bagpack.files import digest, map_array, read_json, write_array, write_bytes
from bagpack.vectors.tables import CountTables, PairTable, WordTable

if TYPE_CHECKING:
    from bagpack.contexts.source import ContextSource
    from bagpack.parallel import Progress
    from bagpack.vectors.matrix import BlockMatrix, Pair

FORMAT_VERSION = 1
KIND = "pair-matrix"
CURE = "the matrix is damaged: restore the file, or count the pairs again with bagpack vectors"


def at_least(least: int, bound: str = "") -> Any:
    """Values from `least` on, below a number of the matrix if one is given."""

    def rule(values: NDArray[Any], numbers: Numbers) -> str:
        if values.size and int(values.min()) < least:
            return f"holds {int(values.min()):,}, but the least value is {least}"
        if bound and values.size and int(values.max()) >= numbers[bound]:
            return f"holds {int(values.max()):,}, but there are {numbers[bound]:,} {bound}"
        return ""

    return rule


def _csr_files(name: str, rows: str, entries: str, columns: str) -> dict[str, Array]:
    return {
        f"{name}.indptr": Array("<i8", f"{rows}+1", ascending(entries, exact=True), "where each row starts"),
        f"{name}.indices": Array("<i4", entries, below(columns), "columns"),
        f"{name}.data": Array("<i4", entries, at_least(0), "counts"),
    }


ARRAYS = {
    **_csr_files("words", "words", "word entries", "word columns"),
    "words.found": Array("<i8", "words", at_least(0), "occurrences of each word"),
    **_csr_files("pairs", "pairs", "pair entries", "pair columns"),
    "pairs.found": Array("<i8", "pairs × 2", at_least(0), "observations in the corpus"),
    "pairs.taken": Array("<i8", "pairs × 2", at_least(0), "observations that were counted"),
    "pairs.targets": Array("<i8", "pairs × 2", below("words"), "two words each"),
    "names.target": Array("<i8", "names", at_least(-1, "words"), "each name's word; -1 if it is unknown"),
    "rows": Array("<i8", "rows × 2", below("names"), "two names each"),
    "names.blob": Array("|u1", "name bytes", utf8, "words as they were given"),
    "names.offsets": Array("<i8", "names+1", ascending("name bytes", exact=True), "where each starts"),
    "targets.blob": Array("|u1", "word bytes", utf8, "keys of the words"),
    "targets.offsets": Array("<i8", "words+1", ascending("word bytes", exact=True), "where each starts"),
}


def save_matrix(matrix: BlockMatrix, path: Path, overwrite: bool = False) -> None:
    """Write a matrix as a directory; it gets its name when it is complete."""
    if matrix.is_weighted:
        raise UsageError("a weighted matrix cannot be saved; save the counts that it was made of")
    with new_directory(path, is_ours=is_matrix, what="matrix", overwrite=overwrite) as work:
        _write(matrix, work)


def append_to_matrix(
    path: str | Path, source: ContextSource, pairs: Iterable[Pair], n_jobs: int | None = None,
    progress: Progress | None = None,
) -> BlockMatrix:  # fmt: skip
    """Add rows to the matrix at a path, which is locked meanwhile; returns the whole matrix."""
    path = Path(path)
    with new_directory(path, is_ours=is_matrix, what="matrix", overwrite=True) as work:
        matrix = open_matrix(path).grow(source, pairs, n_jobs, progress)
        _write(matrix, work)
    return matrix


def check_place(path: Path) -> None:
    """Whether a matrix can be put here: asked before the counting, not after it."""
    check_writable(path)
    check_replaceable(path, is_ours=is_matrix, what="matrix", overwrite=True)


def is_matrix(path: Path) -> bool:
    """Whether a matrix, intact or damaged, is at a path."""
    return read_document(path / "manifest.json").get("kind") == KIND


def _write(matrix: BlockMatrix, directory: Path) -> None:
    tables = matrix.tables
    arrays: dict[str, NDArray[Any]] = {
        **_csr_arrays("words", tables.words.rows),
        "words.found": tables.words.found,
        **_csr_arrays("pairs", tables.distinct_pairs.rows),
        "pairs.found": tables.distinct_pairs.found,
        "pairs.taken": tables.distinct_pairs.taken,
        "pairs.targets": tables.distinct_pairs.members,
        "names.target": tables.name_targets,
        "rows": matrix.rows,
    }
    for name, strings in (("names", tables.names), ("targets", tables.words.keys)):
        arrays |= {f"{name}.blob": strings.blob, f"{name}.offsets": strings.offsets}
    for name, declared in ARRAYS.items():
        write_array(directory / name, arrays[name], declared.dtype)
    write_bytes(directory / "basis.tsv", tables.basis.to_tsv().encode())
    write_sealed(
        directory / "manifest.json",
        {
            "kind": KIND,
            "format_version": FORMAT_VERSION,
            "pairs": len(matrix),
            "words": len(tables.words.keys),
            "distinct_pairs": len(tables.distinct_pairs.members),
            "terms": len(tables.basis),
            "unigrams": len(tables.basis.unigrams),
            "basis_hash": tables.basis.hash,
            "settings": tables.settings.to_dict(),
            "source": {"path": tables.source_path, "content_hash": tables.source_hash},
            "unknown_words": matrix.unknown_words,
            "capped_words": matrix.capped_words,
            "capped_pairs": matrix.capped_pairs,
            "bagpack": __version__,
        },
    )


def _csr_arrays(name: str, rows: Csr) -> dict[str, NDArray[Any]]:
    if rows.data.size and rows.data.max() > np.iinfo(np.int32).max:
        raise UsageError(f"a count of {rows.data.max():,} does not fit into the matrix format; give --limit")
    return {f"{name}.indptr": rows.indptr, f"{name}.indices": rows.indices, f"{name}.data": rows.data}


def read_matrix_manifest(path: Path) -> dict[str, Any]:
    """The manifest, checked for kind, version, seal and types."""
    if not (path / "manifest.json").exists():
        state = "is not a BagPack artefact" if path.exists() else "does not exist"
        raise StoreError(f"{path} {state}; make a matrix with bagpack vectors STORE PAIRS.tsv --out {path}")
    manifest = read_json(member(path, "manifest.json"))
    kind = manifest.get("kind") if isinstance(manifest, dict) else None
    if kind != KIND:
        raise StoreError(f"{path} is a BagPack {kind}, not a {KIND}; name a matrix that bagpack vectors made")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise StoreError(
            f"{path} has format version {manifest.get('format_version')}, this BagPack reads {FORMAT_VERSION}; update "
            f"BagPack, or count the pairs again"
        )
    manifest = read_sealed(path / "manifest.json")
    numbers = all(_is_count(manifest.get(name)) for name in ("pairs", "words", "distinct_pairs", "terms"))
    source = manifest.get("source")
    if (
        "seal" not in manifest
        or not numbers
        or not isinstance(manifest.get("checksums"), dict)
        or not (
            isinstance(source, dict)
            and all(isinstance(source.get(name), str) for name in ("path", "content_hash"))
        )
    ):
        raise StoreError(f"{path / 'manifest.json'} lacks entries, or they have other types; {CURE}")
    return manifest


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62


def _numbers(manifest: Mapping[str, Any]) -> dict[str, int]:
    words, pairs, terms = manifest["words"], manifest["distinct_pairs"], manifest["terms"]
    return {
        "words": words, "pairs": pairs, "pairs × 2": 2 * pairs, "rows × 2": 2 * manifest["pairs"],
        "word columns": 2 * terms, "pair columns": 6 * terms,
    }  # fmt: skip


def open_matrix(path: Path) -> BlockMatrix:
    """Open a matrix that `save_matrix` wrote. Lengths and values of its arrays are checked: kernels do not."""
    return read_unreplaced(path / "manifest.json", lambda: _read(path))


def _read(path: Path) -> BlockMatrix:
    from bagpack.vectors.matrix import BlockMatrix

    manifest = read_matrix_manifest(path)
    basis = Basis.open(member(path, "basis.tsv"))
    if basis.hash != manifest.get("basis_hash") or len(basis) != manifest["terms"]:
        raise StoreError(
            f"{path / 'basis.tsv'} was changed after the matrix was counted; count the pairs again, with --basis"
        )
    for name in ARRAYS:
        member(path, name)
    check(path, ARRAYS, _numbers(manifest), CURE)
    arrays = {name: map_array(path / name, declared.dtype) for name, declared in ARRAYS.items()}
    try:
        settings = CountSettings.from_dict(manifest["settings"])
    except (KeyError, TypeError, UsageError) as error:
        raise StoreError(f"{path / 'manifest.json'} has wrong counting settings ({error}); {CURE}") from error
    names, targets = (
        Strings(arrays[f"{part}.blob"], arrays[f"{part}.offsets"]) for part in ("names", "targets")
    )
    words = WordTable(targets, _csr(arrays, "words", 2 * len(basis)), arrays["words.found"])
    members, found, taken = (arrays[f"pairs.{part}"].reshape(-1, 2) for part in ("targets", "found", "taken"))
    pairs = PairTable(members, _csr(arrays, "pairs", 6 * len(basis)), found, taken)
    source = manifest["source"]["path"], manifest["source"]["content_hash"]
    tables = CountTables(names, arrays["names.target"], words, pairs, basis, settings, *source, path)
    return BlockMatrix.make(tables, arrays["rows"].reshape(-1, 2))


def _csr(arrays: dict[str, NDArray[Any]], name: str, width: int) -> Csr:
    data, indices, indptr = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    return make_rows(data, indices, indptr[1:], width)


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
    """One message per damaged file."""
    return read_unreplaced(path / "manifest.json", lambda: _problems(path))


def _problems(path: Path) -> Sequence[str]:
    manifest = read_matrix_manifest(path)
    missing = [f"{path / name} has no checksum" for name in ARRAYS if name not in manifest["checksums"]]
    found = [*missing, *damaged_files(path, manifest["checksums"])]
    return found or list(damages(path, ARRAYS, _numbers(manifest)))
