"""A pair matrix as other tools read it: long tables, data frames, SVMlight."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import numpy as np

from bagpack.errors import UsageError, import_extra
from bagpack.files import disk_errors, is_stream, replacing

if TYPE_CHECKING:
    from bagpack.vectors.matrix import BlockMatrix

_parquet = partial(import_extra, "pyarrow.parquet", "pyarrow", "parquet", "writing Parquet")

ROWS_AT_ONCE = 1000
COLUMNS = ("w1", "w2", "feature", "count")
SUFFIXES = {".tsv": "tsv", ".parquet": "parquet", ".svm": "svmlight", ".svmlight": "svmlight"}
# Endings by which someone asks for a file of a kind that is not written here; a matrix is a directory.
OTHER_FILES = frozenset(
    {
        ".arrow", ".bz2", ".csv", ".dat", ".db", ".doc", ".docx", ".feather", ".gz", ".h5", ".hdf5", ".htm", ".html",
        ".ipc", ".json", ".jsonl", ".libsvm", ".mat", ".mtx", ".npy", ".npz", ".ods", ".odt", ".pdf", ".pickle", ".pkl",
        ".rds", ".rtf", ".sqlite", ".tab", ".txt", ".xls", ".xlsx", ".xml", ".xz", ".yaml", ".zip", ".zst",
    }
)  # fmt: skip


def long_rows(matrix: BlockMatrix) -> Iterator[dict[str, list[Any]]]:
    """Non-zero counts as columns w1, w2, feature, count, a batch of pairs at a time."""
    names = np.array(matrix.feature_names(), dtype=object)
    for start in range(0, len(matrix), ROWS_AT_ONCE):
        part = matrix.select(slice(start, start + ROWS_AT_ONCE))
        repeats = np.diff(part.indptr)
        yield {
            "w1": np.repeat(np.array([w1 for w1, _ in part.pairs], dtype=object), repeats).tolist(),
            "w2": np.repeat(np.array([w2 for _, w2 in part.pairs], dtype=object), repeats).tolist(),
            "feature": names[part.indices].tolist(),
            "count": part.data.tolist(),
        }


def write_tsv(matrix: BlockMatrix, out: IO[str]) -> None:
    """`w1 w2 feature count` with a header, non-zero counts only."""
    out.write("\t".join(COLUMNS) + "\n")
    for batch in long_rows(matrix):
        out.writelines(
            f"{w1}\t{w2}\t{feature}\t{count}\n"
            for w1, w2, feature, count in zip(*batch.values(), strict=True)
        )


def write_svmlight(matrix: BlockMatrix, out: IO[str]) -> None:
    """A line a pair: 0 for the target, 1-based feature:count, the pair as a comment."""
    for start in range(0, len(matrix), ROWS_AT_ONCE):
        part = matrix.select(slice(start, start + ROWS_AT_ONCE))
        for i, (w1, w2) in enumerate(part.pairs):
            row = slice(part.indptr[i], part.indptr[i + 1])
            cells = " ".join(
                f"{column + 1}:{value}"
                for column, value in zip(part.indices[row].tolist(), part.data[row].tolist(), strict=True)
            )
            out.write(f"0 {cells} # {w1} {w2}\n")


def write_parquet(matrix: BlockMatrix, out: Path | BinaryIO) -> None:
    """The long table as Parquet."""
    parquet = _parquet()
    import pyarrow as pa

    kinds = [pa.string(), pa.string(), pa.string(), pa.int32()]
    schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)))
    with parquet.ParquetWriter(out, schema) as writer:
        for batch in long_rows(matrix):
            writer.write_table(pa.table(batch, schema=schema))


def to_frame(matrix: BlockMatrix, library: str = "pandas") -> Any:
    """The long table as a pandas or polars data frame."""
    if library not in ("pandas", "polars"):
        raise UsageError(f"the data-frame library {library!r} is unknown; choose pandas or polars")
    frames = import_extra(library, library, library, f"a {library} data frame")
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for batch in long_rows(matrix):
        for name, values in batch.items():
            columns[name].extend(values)
    if library == "pandas":
        return frames.DataFrame(columns)
    return frames.DataFrame(columns, schema_overrides={"count": frames.Int32})


def is_export(path: Path) -> bool:
    """Whether a name asks for an export, by its ending; otherwise it is a matrix's."""
    suffix = path.suffix.lower()
    if suffix in OTHER_FILES and not path.is_dir():
        raise UsageError(
            f"{path} cannot be made: exports end in {', '.join(SUFFIXES)}, and {suffix} is none of them; choose one, "
            f"or a name without such an ending for a matrix"
        )
    return suffix in SUFFIXES


def check_export(path: Path) -> None:
    """Whether the file can be written here; checked before the counting."""
    if path.is_dir():
        raise UsageError(f"{path} is a directory; name a file to export to")
    if not is_stream(path):
        target = Path(os.path.realpath(path))
        with disk_errors(path):
            target.parent.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=target.parent).close()
    if path.suffix.lower() == ".parquet":
        _parquet()


def export(matrix: BlockMatrix, path: Path) -> None:
    """Write by the suffix of `path`; a file of that name is replaced when the new one is whole."""
    kind = SUFFIXES[path.suffix.lower()]
    with replacing(path) as out:
        if kind == "parquet":
            write_parquet(matrix, out)
        else:
            writer = write_tsv if kind == "tsv" else write_svmlight
            text = TextIOWrapper(out, encoding="utf-8")
            writer(matrix, text)
            text.detach()
