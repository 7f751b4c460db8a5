"""Parquet: a text column and, if there is one, an id column; row groups are the slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.sources import Slice, Source
from bagpack.corpus.readers.text import push_paragraphs
from bagpack.errors import InputError, missing_extra

if TYPE_CHECKING:
    from bagpack.corpus.build.shard_builder import ShardSink


class ParquetReader:
    """Parquet."""

    name = "parquet"
    suffixes = (".parquet", ".pq")

    def recognises(self, head: bytes) -> bool:
        """The magic bytes."""
        return head.startswith(b"PAR1")

    def _open(self, source: Source) -> Any:
        try:
            import pyarrow
            import pyarrow.parquet as pq
        except ImportError as error:
            raise missing_extra("pyarrow", "parquet", "reading Parquet") from error
        if source.compression:
            raise InputError(
                f"{source.name} is a compressed Parquet file; uncompress it (Parquet compresses its own columns)"
            )
        try:
            return pq.ParquetFile(source.path, memory_map=True)
        except (pyarrow.ArrowException, OSError) as error:
            raise InputError(
                f"{source.name} cannot be read as Parquet ({error}); fetch or write it again"
            ) from error

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        """Group row groups until they make about `target` uncompressed bytes."""
        handle = self._open(source)
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
            size += about.total_byte_size
            rows += about.num_rows
            if size >= target or group == handle.metadata.num_row_groups - 1:
                found.append(Slice(source, start, group + 1, first_line=first_row))
                start, size, first_row = group + 1, 0, rows
        return found or [Slice(source, 0, 0)]

    def feed(self, part: Slice, sink: ShardSink, options: TextOptions) -> None:
        """Push each row's paragraphs."""
        handle = self._open(part.source)
        wanted = [options.text_field]
        has_id = options.id_field in handle.schema_arrow.names
        if has_id:
            wanted.append(options.id_field)
        number = part.first_line
        groups = list(range(part.start, part.end))
        for batch in handle.iter_batches(batch_size=256, row_groups=groups, columns=wanted):
            texts = batch.column(options.text_field).to_pylist()
            names = batch.column(options.id_field).to_pylist() if has_id else [None] * len(texts)
            for text, name in zip(texts, names, strict=True):
                number += 1
                if text is None:
                    sink.tally.skipped_lines += 1
                    continue
                if not isinstance(text, str):
                    raise InputError(
                        f"{part.source.name} row {number}: the column {options.text_field!r} holds no strings; name "
                        f"the text column with --text-field"
                    )
                sink.open_document(f"{part.source.name}:{number}" if name is None else str(name))
                push_paragraphs(text.splitlines(), sink)
            sink.block_done(batch.nbytes)


READER = ParquetReader()
