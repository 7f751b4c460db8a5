"""Pair counts on disk: arrays, a basis, and a manifest. docs/formats.md has the bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from mimetypes import guess_type
from pathlib import Path

import numpy as np

from bagpack._version import __version__
from bagpack.arrays import Values
from bagpack.artefacts import MANIFEST, Artefact, Kind, is_kind, new_artefact, open_artefact
from bagpack.basis import Basis
from bagpack.contexts.count import make_rows
from bagpack.contexts.windows import CountSettings
from bagpack.corpus import format
from bagpack.corpus.format import Array, Numbers, ascending, below, strings
from bagpack.corpus.strings import Strings
from bagpack.errors import StoreError, UsageError
from bagpack.files import map_array, replacing, write_bytes
from bagpack.vectors.counts import PairCounts

MATRIX = Kind("pair-matrix", "matrix", 3, "bagpack vectors")
CURE = "the matrix is damaged: restore the file, or count the pairs again with bagpack vectors"

ROWS_AT_ONCE = 1000  # of an export


def no_negative(values: Values, numbers: Numbers) -> str:
    """0 or more."""
    least = int(values.min(initial=0))
    return f"holds {least:,}, but counts are not negative" if least < 0 else ""


def row_or_none(values: Values, numbers: Numbers) -> str:
    """The row of an unordered pair, or -1."""
    return below("unordered pairs")(values[values != -1], numbers)


def _csr_files(name: str, rows: str, entries: str, columns: str) -> dict[str, Array]:
    return {
        f"{name}.indptr": Array("<i8", f"{rows}+1", ascending(entries, exact=True)),
        f"{name}.indices": Array("<i4", entries, below(columns)),
        f"{name}.data": Array("<i4", entries, no_negative),
    }


# What each file means is in docs/formats.md.
ARRAYS = {
    **_csr_files("words", "words", "word entries", "word columns"),
    "words.found": Array("<i8", "words", no_negative),
    **_csr_files("pairs", "unordered pairs", "pair entries", "pair columns"),
    "pairs.found": Array("<i8", "unordered pairs × 2", no_negative),
    "pairs.taken": Array("<i8", "unordered pairs × 2", no_negative),
    **strings("names", "names", "name bytes"),
    **strings("keys", "names", "key bytes"),
    "names.word": Array("<i8", "names", below("words")),
    "rows.names": Array("<i8", "rows × 2", below("names")),
    "rows.pair": Array("<i8", "rows", row_or_none),
    "rows.swapped": Array("|u1", "rows", below("two")),
}

NUMBERS = ("pairs", "words", "distinct_pairs", "terms")
ENTRIES = {**dict.fromkeys(NUMBERS, int), "settings": dict, "source": {"path": str, "content_hash": str}}


def is_matrix(path: Path) -> bool:
    """Whether a matrix, intact or damaged, is at a path."""
    return is_kind(path, MATRIX)


def save_counts(counts: PairCounts, path: Path, overwrite: bool = False) -> None:
    """Write counts as a directory; it gets its name when it is complete."""
    counts = counts.compact()
    arrays: dict[str, Values] = {
        "words.found": counts.occurrences, "pairs.found": counts.found, "pairs.taken": counts.taken,
        "names.word": counts.word_of, "rows.names": counts.rows, "rows.pair": counts.pair_of,
        "rows.swapped": counts.swapped, **counts.names.files("names"), **counts.keys.files("keys"),
    }  # fmt: skip
    for name, rows in (("words", counts.words), ("pairs", counts.together)):
        if rows.data.max(initial=0) > np.iinfo(np.int32).max:
            raise UsageError(
                f"a count of {rows.data.max():,} does not fit into the matrix format; give --limit"
            )
        arrays |= {f"{name}.{part}": getattr(rows, part) for part in ("indptr", "indices", "data")}
    manifest = {
        "pairs": len(counts),
        "words": counts.words.shape[0],
        "distinct_pairs": counts.together.shape[0],
        "terms": len(counts.basis),
        "unigrams": len(counts.basis.unigrams),
        "basis_hash": counts.basis.hash,
        "settings": asdict(counts.settings),
        "source": {"path": counts.source_path, "content_hash": counts.source_hash},
        "unknown_words": counts.unknown_words,
        "capped_words": counts.capped_words,
        "capped_pairs": counts.capped_pairs,
        "bagpack": __version__,
    }
    with new_artefact(path, MATRIX, overwrite=overwrite) as draft:
        format.write_arrays(draft.directory, arrays, ARRAYS)
        write_bytes(draft.directory / "basis.tsv", counts.basis.to_tsv().encode())
        draft.manifest = manifest


def _open(path: Path) -> tuple[Artefact, dict[str, int], CountSettings]:
    """The matrix at a path, the lengths of its arrays, and how it was counted."""
    matrix = open_artefact(path, MATRIX)
    format.check_entries(matrix.manifest, ENTRIES, path / MANIFEST)
    try:
        settings = CountSettings.from_dict(matrix.manifest["settings"])
    except (KeyError, TypeError, UsageError) as error:
        raise StoreError(f"{path / MANIFEST} has wrong settings ({error}); {CURE}") from error
    rows, words, pairs, terms = (matrix.manifest[name] for name in NUMBERS)
    numbers = {
        "words": words, "unordered pairs": pairs, "unordered pairs × 2": 2 * pairs, "rows": rows, "rows × 2": 2 * rows,
        "word columns": 2 * terms, "pair columns": 6 * terms, "two": 2,
    }  # fmt: skip
    return matrix, numbers, settings


def open_arrays(
    stored: Artefact, declared: Mapping[str, Array], numbers: Numbers, cure: str
) -> dict[str, Values]:
    """The arrays of an artefact, memory-mapped, once their lengths and values are as declared: kernels do not check."""
    files = {name: stored.file(name) for name in declared}
    format.check(stored.data, declared, numbers, cure)
    return {name: map_array(file, declared[name].dtype) for name, file in files.items()}


def strings_of(arrays: Mapping[str, Values], name: str) -> Strings:
    return Strings(arrays[f"{name}.blob"], arrays[f"{name}.offsets"])


def open_counts(path: Path) -> PairCounts:
    """Open what `save_counts` wrote."""
    matrix, numbers, settings = _open(path)
    basis = Basis.open(matrix.file("basis.tsv"))
    if basis.hash != matrix.manifest.get("basis_hash") or len(basis) != matrix.manifest["terms"]:
        raise StoreError(
            f"{matrix.data / 'basis.tsv'} was changed after the matrix was counted; count the pairs again, with --basis"
        )
    arrays = open_arrays(matrix, ARRAYS, numbers, CURE)
    names, keys = (strings_of(arrays, part) for part in ("names", "keys"))
    found, taken, rows = (
        arrays[name].reshape(-1, 2) for name in ("pairs.found", "pairs.taken", "rows.names")
    )
    words, together = (
        make_rows(arrays[f"{part}.data"], arrays[f"{part}.indices"], arrays[f"{part}.indptr"][1:], width)
        for part, width in (("words", 2 * len(basis)), ("pairs", 6 * len(basis)))
    )
    source = matrix.manifest["source"]
    return PairCounts(
        names, keys, arrays["names.word"], words, arrays["words.found"], together, found, taken, rows,
        arrays["rows.pair"], arrays["rows.swapped"].astype(np.bool_), basis, settings, source["path"],
        source["content_hash"], path,
    )  # fmt: skip


def verify_matrix(path: Path) -> Sequence[str]:
    """One message per damaged file."""
    matrix, numbers, _ = _open(path)
    files = {**ARRAYS, **matrix.manifest["checksums"]}  # an array without a checksum is damage
    return matrix.damages(files) or list(format.damages(matrix.data, ARRAYS, numbers))


# Export: a long table `w1 w2 feature count` of the counts that are not zero, for other tools ---------------------


def is_export(path: Path) -> bool:
    """Whether a name asks for an export, by its ending; otherwise it is a matrix's."""
    is_known = path.suffix.lower() == ".tsv"
    if not is_known and guess_type(path.name)[0] and not path.is_dir():
        raise UsageError(
            f"{path} cannot be made: exports end in .tsv; choose such a name, or one without the ending of a file for "
            f"a matrix, which is a directory"
        )
    return is_known


def export(counts: PairCounts, path: Path) -> None:
    """Write the table; a file of that name is replaced when the new one is whole."""
    names = counts.feature_names()
    with replacing(path) as out:
        out.write(b"w1\tw2\tfeature\tcount\n")
        for start in range(0, len(counts), ROWS_AT_ONCE):
            some = counts[start : start + ROWS_AT_ONCE]
            part = some.tocsr().tocoo()
            for row, column, count in zip(
                part.row.tolist(), part.col.tolist(), part.data.tolist(), strict=True
            ):
                out.write("\t".join([*some.pairs[row], names[column], f"{count}\n"]).encode())
