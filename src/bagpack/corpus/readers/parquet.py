"""Parquet: a text column and, if there is one, an id column; row groups are the slices.

Few rows are read at once, and strings stay encoded as a dictionary until a row is used: two kilobytes of file can
expand to gigabytes of equal rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.attributes import scalar_attributes
from bagpack.corpus.readers.base import Batch, Reader, Slice, Source
from bagpack.corpus.readers.text import add_lines
from bagpack.errors import BagpackError, InputError, import_extra

ROWS = 256
MAX_ID = 1 << 16
MAX_EXPANDED, MAX_EXPANSION = 64 << 20, 200  # bytes; times (text shrinks to a third, or a tenth at most)


class ParquetReader(Reader):
    name = "parquet"
    suffixes = (".parquet", ".pq")

    def recognises(self, head: bytes) -> bool:
        return head.startswith(b"PAR1")

    def look(self, source: Source, head: bytes, options: TextOptions) -> Source:
        """Nothing: its first bytes are no text."""
        return source

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        """Group row groups until they make about `target` uncompressed bytes."""
        with _open(source, options) as handle:
            names = handle.schema_arrow.names
            if options.text_field not in names:
                raise InputError(
                    f"{source.name} has no column {options.text_field!r} (it has: {', '.join(names)}); name it with "
                    f"--text-field"
                )
            found: list[Slice] = []
            start = rows = size = first_row = 0
            for group in range(handle.metadata.num_row_groups):
                about = handle.metadata.row_group(group)
                _check_expansion(source, about)
                size += about.total_byte_size
                rows += about.num_rows
                if size >= target or group == handle.metadata.num_row_groups - 1:
                    found.append(Slice(source, start, group + 1, first_line=first_row))
                    start, size, first_row = group + 1, 0, rows
        return found or [Slice(source, 0, 0)]

    def read(self, part: Slice, options: TextOptions) -> Iterator[Batch]:
        number = part.first_line
        with _open(part.source, options) as handle:
            own = (options.text_field, options.id_field)
            columns = [
                field.name for field in handle.schema_arrow if field.name in own or _is_scalar(field.type)
            ]
            groups = list(range(part.start, part.end))
            for rows in handle.iter_batches(batch_size=ROWS, row_groups=groups, columns=columns):
                for row in range(rows.num_rows):
                    number += 1
                    cells = {name: rows.column(name)[row].as_py() for name in columns}
                    yield _document(part.source, number, cells, options)


def _document(source: Source, number: int, cells: dict[str, Any], options: TextOptions) -> Batch:
    batch = Batch(source, where=f"{source.name} row {number:,}")
    text, name = cells.pop(options.text_field), cells.pop(options.id_field, None)
    if text is None:
        batch.skipped = 1
        return batch
    if not isinstance(text, str) or len(text) > options.max_line:
        raise InputError(
            f"{batch.where} has no text of at most {options.max_line:,} characters in {options.text_field!r}; split "
            f"it, or name the text column with --text-field"
        )
    batch.consumed = len(text)
    name = f"{source.name}:{number}" if name is None else str(name)
    if len(name) > MAX_ID:
        raise InputError(
            f"{batch.where} has an id of more than {MAX_ID:,} characters; name another --id-field"
        )
    batch.add_document(name, scalar_attributes(cells))
    add_lines(batch, text)
    return batch


def _check_expansion(source: Source, group: Any) -> None:
    """Refuse a row group of very long equal values: pyarrow uncompresses a page of it, up to 2 GiB, at once.

    Only the sum over its columns is looked at: pyarrow aborts the process if a column's entry in the footer is wrong.
    """
    size, held = group.total_byte_size, source.size
    if size > MAX_EXPANDED and size > MAX_EXPANSION * held:
        raise InputError(
            f"{source.name} expands from {held:,} to {size:,} bytes, which no text does; write it again with shorter "
            f"values"
        )


@contextmanager
def _open(source: Source, options: TextOptions) -> Iterator[Any]:
    """The file; errors in its bytes, also those found later in the context, become an `InputError`."""
    pq = import_extra("pyarrow.parquet", "pyarrow", "parquet", "reading Parquet")
    import pyarrow

    if source.compression:
        raise InputError(
            f"{source.name} is a compressed Parquet file; uncompress it (Parquet compresses its own columns)"
        )
    try:
        own = (options.text_field, options.id_field)
        held = [
            field.name for field in pq.read_schema(source.path) if field.name in own or _is_text(field.type)
        ]
        with pq.ParquetFile(source.path, memory_map=True, read_dictionary=held) as handle:
            yield handle
    except BagpackError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, MemoryError) as error:
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(
            f"{source.name} cannot be read as Parquet ({first}); fetch or write it again"
        ) from error


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_scalar(kind: Any) -> bool:
    """Whether a column's values can be attributes: numbers, strings, dates."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return _is_scalar(kind.value_type)
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_date, types.is_timestamp)
    return _is_text(kind) or any(test(kind) for test in tests)


READER = ParquetReader()
