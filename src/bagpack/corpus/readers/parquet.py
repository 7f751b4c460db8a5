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
from bagpack.corpus.readers.files import to_text
from bagpack.corpus.readers.text import add_lines
from bagpack.errors import BagpackError, InputError, import_extra

ROWS = 256
MAX_ID = 1 << 16
MAX_EXPANDED, MAX_EXPANSION = 64 << 20, 200  # bytes; times (text shrinks to a third, or a tenth at most)


class ParquetReader(Reader):
    """Parquet."""

    name = "parquet"
    suffixes = (".parquet", ".pq")

    def recognises(self, head: bytes) -> bool:
        """The magic bytes."""
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
        """A batch for each row."""
        number = part.first_line
        with _open(part.source, options) as handle:
            own = (options.text_field, options.id_field)
            fields = [field for field in handle.schema_arrow if field.name in own or _is_scalar(field.type)]
            columns = [field.name for field in fields]
            groups = list(range(part.start, part.end))
            for rows in handle.iter_batches(batch_size=ROWS, row_groups=groups, columns=columns):
                for row in range(rows.num_rows):
                    number += 1
                    yield _document(
                        part.source, number, {n: _cell(rows.column(n)[row]) for n in columns}, options
                    )


def _document(source: Source, number: int, cells: dict[str, Any], options: TextOptions) -> Batch:
    """The document of a row; texts are bytes, since in a damaged file they need not be UTF-8."""
    batch = Batch(source, where=f"{source.name} row {number:,}")
    text, name = cells.pop(options.text_field), cells.pop(options.id_field, None)
    if text is None:
        batch.skipped = 1
        return batch
    if not hasattr(text, "to_pybytes"):
        raise InputError(
            f"{source.name}: the column {options.text_field!r} holds no strings; name the text column with --text-field"
        )
    for what, cell, most, advice in (
        ("a text", text, options.max_line, "split it"),
        ("an id", name, MAX_ID, "name another column with --id-field"),
    ):
        if getattr(cell, "size", 0) > most:
            raise InputError(f"{batch.where} has {what} of more than {most:,} bytes; {advice}")
    batch.consumed = text.size
    words, batch.repaired = to_text(text.to_pybytes(), source, options, lambda at: batch.where)
    # A short file can hold very many long values, which are no attributes.
    values = {key: _plain(cell) for key, cell in cells.items() if getattr(cell, "size", 0) <= MAX_ID}
    batch.add_document(
        f"{source.name}:{number}" if name is None else str(_plain(name)), scalar_attributes(values)
    )
    add_lines(batch, words)
    return batch


def _cell(scalar: Any) -> Any:
    """The value of a cell; of a string or bytes, the buffer that holds it."""
    if hasattr(scalar, "value") and hasattr(scalar, "dictionary"):
        scalar = scalar.value
    if scalar is None or not scalar.is_valid:
        return None
    return scalar.as_buffer() if hasattr(scalar, "as_buffer") else scalar.as_py()


def _plain(cell: Any) -> Any:
    return cell.to_pybytes().decode("utf-8", "replace") if hasattr(cell, "to_pybytes") else cell


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
