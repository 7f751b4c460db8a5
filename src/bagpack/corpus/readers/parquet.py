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
        return source  # its first bytes are no text

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        """Runs of row groups of about `target` uncompressed bytes."""
        found: list[Slice] = []
        with _open(source, options) as (handle, _):
            start = rows = size = first_row = 0
            for group in range(handle.metadata.num_row_groups):
                # Only the sum over its columns: pyarrow aborts the process if a column's entry in the footer is wrong.
                about = handle.metadata.row_group(group)
                if about.total_byte_size > max(MAX_EXPANDED, MAX_EXPANSION * source.size):
                    # pyarrow uncompresses a page of very long equal values, up to 2 GiB, at once.
                    raise InputError(f"{source.name} expands to more bytes than text does; write it again")
                size += about.total_byte_size
                rows += about.num_rows
                if size >= target or group == handle.metadata.num_row_groups - 1:
                    found.append(Slice(source, start, group + 1, first_line=first_row))
                    start, size, first_row = group + 1, 0, rows
        return found or [Slice(source, 0, 0)]

    def read(self, part: Slice, options: TextOptions) -> Iterator[Batch]:
        number = part.first_line
        with _open(part.source, options) as (handle, columns):
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
        raise InputError(f"{batch.where} has no text of at most {options.max_line:,} characters; split it")
    batch.consumed = len(text)
    name = f"{source.name}:{number}" if name is None else str(name)
    if len(name) > MAX_ID:
        problem = f"has an id of more than {MAX_ID:,} characters"
        raise InputError(f"{batch.where} {problem}; name another --id-field")
    batch.add_document(name, scalar_attributes(cells))
    add_lines(batch, text)
    return batch


@contextmanager
def _open(source: Source, options: TextOptions) -> Iterator[tuple[Any, list[str]]]:
    """The file and its columns; errors in its bytes, also those found later in the context, become an `InputError`."""
    pq = import_extra("pyarrow.parquet", "pyarrow", "parquet", "reading Parquet")
    from pyarrow import ArrowException, types

    if source.compression:
        raise InputError(f"{source.name} is a compressed Parquet file; uncompress it")
    strings = (types.is_string, types.is_large_string, types.is_dictionary)
    scalars = (types.is_integer, types.is_floating, types.is_boolean, types.is_date, types.is_timestamp)
    try:
        schema = pq.read_schema(source.path)
        held = [field.name for field in schema if any(test(field.type) for test in strings)]
        columns = [*held, *(field.name for field in schema if any(test(field.type) for test in scalars))]
        if options.text_field not in held:
            raise InputError(
                f"{source.name} has no column {options.text_field!r} with strings (columns with strings: "
                f"{', '.join(held)}); name it with --text-field"
            )
        with pq.ParquetFile(source.path, memory_map=True, read_dictionary=held) as handle:
            yield handle, columns
    except BagpackError:
        raise
    except (ArrowException, OSError, ValueError, MemoryError) as error:
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(f"{source.name} cannot be read as Parquet ({first}); fetch it again") from error


READER = ParquetReader()
