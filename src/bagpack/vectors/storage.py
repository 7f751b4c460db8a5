"""Pair counts on disk: arrays, a basis, and a manifest. docs/formats.md has the bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from mimetypes import guess_type
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from bagpack._version import __version__
from bagpack.artefacts import MANIFEST, Artefact, Kind, is_kind, new_artefact, open_artefact
from bagpack.artefacts import check_place as check_any_place
from bagpack.basis import Basis
from bagpack.contexts.count import Csr, make_rows
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.format import Array, Numbers, ascending, below, check, damages, utf8
from bagpack.corpus.strings import Strings
from bagpack.errors import StoreError, UsageError
from bagpack.files import disk_errors, map_array, replacing, write_array, write_bytes
from bagpack.vectors.counts import PairCounts

MATRIX = Kind("pair-matrix", "matrix", 3, "bagpack vectors")
CURE = "the matrix is damaged: restore the file, or count the pairs again with bagpack vectors"

ROWS_AT_ONCE = 1000


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
    **_csr_files("pairs", "unordered pairs", "pair entries", "pair columns"),
    "pairs.found": Array("<i8", "unordered pairs × 2", at_least(0), "co-occurrences in the corpus"),
    "pairs.taken": Array("<i8", "unordered pairs × 2", at_least(0), "co-occurrences that were counted"),
    "names.blob": Array("|u1", "name bytes", utf8, "words as they were given"),
    "names.offsets": Array("<i8", "names+1", ascending("name bytes", exact=True), "where each starts"),
    "keys.blob": Array("|u1", "key bytes", utf8, "key of each name in the corpus; empty if it is unknown"),
    "keys.offsets": Array("<i8", "names+1", ascending("key bytes", exact=True), "where each starts"),
    "names.word": Array("<i8", "names", below("words"), "each name's word"),
    "rows.names": Array("<i8", "rows × 2", below("names"), "two names each"),
    "rows.pair": Array(
        "<i8", "rows", at_least(-1, "unordered pairs"), "the unordered pair; -1: a word is unknown"
    ),
    "rows.swapped": Array("|u1", "rows", below("two"), "1 if it is the other way round"),
}


def save_counts(counts: PairCounts, path: Path, overwrite: bool = False) -> None:
    """Write counts as a directory; it gets its name when it is complete."""
    with new_artefact(path, MATRIX, overwrite=overwrite) as draft:
        draft.manifest = _write(counts.compact(), draft.directory)


def check_place(path: Path) -> None:
    """Whether a matrix can be put here: asked before the counting, not after it."""
    check_any_place(path, MATRIX, overwrite=True)


def is_matrix(path: Path) -> bool:
    """Whether a matrix, intact or damaged, is at a path."""
    return is_kind(path, MATRIX)


def _write(counts: PairCounts, directory: Path) -> dict[str, Any]:
    """Write the arrays and the basis; returns what the manifest says about them."""
    arrays: dict[str, NDArray[Any]] = {
        **_csr_arrays("words", counts.words),
        "words.found": counts.occurrences,
        **_csr_arrays("pairs", counts.together),
        "pairs.found": counts.found,
        "pairs.taken": counts.taken,
        "names.word": counts.word_of,
        "rows.names": counts.rows,
        "rows.pair": counts.pair_of,
        "rows.swapped": counts.swapped,
    }
    for name, strings in (("names", counts.names), ("keys", counts.keys)):
        arrays |= {f"{name}.blob": strings.blob, f"{name}.offsets": strings.offsets}
    for name, declared in ARRAYS.items():
        write_array(directory / name, arrays[name], declared.dtype)
    write_bytes(directory / "basis.tsv", counts.basis.to_tsv().encode())
    return {
        "pairs": len(counts),
        "words": counts.words.shape[0],
        "distinct_pairs": counts.together.shape[0],
        "terms": len(counts.basis),
        "unigrams": len(counts.basis.unigrams),
        "basis_hash": counts.basis.hash,
        "settings": counts.settings.to_dict(),
        "source": {"path": counts.source_path, "content_hash": counts.source_hash},
        "unknown_words": counts.unknown_words,
        "capped_words": counts.capped_words,
        "capped_pairs": counts.capped_pairs,
        "bagpack": __version__,
    }


def _csr_arrays(name: str, rows: Csr) -> dict[str, NDArray[Any]]:
    if rows.data.size and rows.data.max() > np.iinfo(np.int32).max:
        raise UsageError(f"a count of {rows.data.max():,} does not fit into the matrix format; give --limit")
    return {f"{name}.indptr": rows.indptr, f"{name}.indices": rows.indices, f"{name}.data": rows.data}


def _open(path: Path) -> Artefact:
    """The matrix at a path, with a manifest that has the entries it should have."""
    matrix = open_artefact(path, MATRIX)
    numbers = [matrix.manifest.get(name) for name in ("pairs", "words", "distinct_pairs", "terms")]
    source = matrix.manifest.get("source")
    named = isinstance(source, dict) and all(
        isinstance(source.get(name), str) for name in ("path", "content_hash")
    )
    if not named or not all(type(number) is int and 0 <= number < 1 << 62 for number in numbers):
        raise StoreError(f"{path / MANIFEST} lacks entries, or they have other types; {CURE}")
    return matrix


def _numbers(manifest: Mapping[str, Any]) -> dict[str, int]:
    pairs, rows, terms = manifest["distinct_pairs"], manifest["pairs"], manifest["terms"]
    return {
        "words": manifest["words"], "unordered pairs": pairs, "unordered pairs × 2": 2 * pairs, "rows": rows,
        "rows × 2": 2 * rows, "word columns": 2 * terms, "pair columns": 6 * terms, "two": 2,
    }  # fmt: skip


def open_counts(path: Path) -> PairCounts:
    """Open what `save_counts` wrote. Lengths and values of the arrays are checked: kernels do not."""
    matrix = _open(path)
    manifest = matrix.manifest
    basis = Basis.open(matrix.file("basis.tsv"))
    if basis.hash != manifest.get("basis_hash") or len(basis) != manifest["terms"]:
        raise StoreError(
            f"{matrix.data / 'basis.tsv'} was changed after the matrix was counted; count the pairs again, with --basis"
        )
    files = {name: matrix.file(name) for name in ARRAYS}
    check(matrix.data, ARRAYS, _numbers(manifest), CURE)
    arrays = {name: map_array(files[name], declared.dtype) for name, declared in ARRAYS.items()}
    try:
        settings = CountSettings.from_dict(manifest["settings"])
    except (KeyError, TypeError, UsageError) as error:
        raise StoreError(f"{path / MANIFEST} has wrong counting settings ({error}); {CURE}") from error
    names, keys = (Strings(arrays[f"{part}.blob"], arrays[f"{part}.offsets"]) for part in ("names", "keys"))
    found, taken, rows = (
        arrays[name].reshape(-1, 2) for name in ("pairs.found", "pairs.taken", "rows.names")
    )
    words, together = (
        make_rows(arrays[f"{part}.data"], arrays[f"{part}.indices"], arrays[f"{part}.indptr"][1:], width)
        for part, width in (("words", 2 * len(basis)), ("pairs", 6 * len(basis)))
    )
    return PairCounts(
        names, keys, arrays["names.word"], words, arrays["words.found"], together, found, taken, rows,
        arrays["rows.pair"], arrays["rows.swapped"].astype(np.bool_), basis, settings, manifest["source"]["path"],
        manifest["source"]["content_hash"], path,
    )  # fmt: skip


def verify_matrix(path: Path) -> Sequence[str]:
    """One message per damaged file."""
    matrix = _open(path)
    missing = [
        f"{matrix.data / name} has no checksum" for name in ARRAYS if name not in matrix.manifest["checksums"]
    ]
    found = [*missing, *matrix.damages()]
    return found or list(damages(matrix.data, ARRAYS, _numbers(matrix.manifest)))


# Export: a long table `w1 w2 feature count` of the counts that are not zero, for other tools ---------------------


def write_tsv(counts: PairCounts, out: IO[str]) -> None:
    """`w1 w2 feature count` with a header, non-zero counts only."""
    out.write("w1\tw2\tfeature\tcount\n")
    names = counts.feature_names()
    for start in range(0, len(counts), ROWS_AT_ONCE):
        some = counts[start : start + ROWS_AT_ONCE]
        part = some.tocsr()
        pairs = [some.pairs[k] for k in np.repeat(np.arange(len(some)), np.diff(part.indptr)).tolist()]
        out.writelines(
            f"{w1}\t{w2}\t{names[column]}\t{count}\n"
            for (w1, w2), column, count in zip(pairs, part.indices.tolist(), part.data.tolist(), strict=True)
        )


def is_export(path: Path) -> bool:
    """Whether a name asks for an export, by its ending; otherwise it is a matrix's."""
    is_known = path.suffix.lower() == ".tsv"
    if not is_known and guess_type(path.name)[0] and not path.is_dir():
        raise UsageError(
            f"{path} cannot be made: exports end in .tsv; choose such a name, or one without the ending of a file for "
            f"a matrix, which is a directory"
        )
    return is_known


def check_export(path: Path) -> None:
    """Whether the file can be written here; checked before the counting."""
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is not a file; name one to export to")
    target = Path(os.path.realpath(path))
    with disk_errors(path):
        target.parent.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=target.parent).close()


def export(counts: PairCounts, path: Path) -> None:
    """Write the table; a file of that name is replaced when the new one is whole."""
    with replacing(path) as out:
        text = TextIOWrapper(out, encoding="utf-8")
        write_tsv(counts, text)
        text.detach()
