"""JSON lines: an object a line, its text in one field and, if it has one, its id in another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.attributes import encodable, scalar_attributes
from bagpack.corpus.readers.base import Batch, Reader, Slice, Source
from bagpack.corpus.readers.files import HEAD, line_slices
from bagpack.corpus.readers.text import add_lines, decoded_blocks
from bagpack.errors import InputError

COUNT_BLOCK = 1 << 24


class JsonLinesReader(Reader):
    name = "jsonl"
    suffixes = (".jsonl", ".ndjson", ".jsonlines")

    def recognises(self, head: bytes) -> bool:
        first = head.split(b"\n", 1)[0].strip()
        if b"\n" not in head and len(head) >= HEAD:  # a line that is longer than what is looked at
            return re.match(rb'\{\s*"[^"]*"\s*:', first) is not None
        if not (first.startswith(b"{") and first.endswith(b"}")):
            return False
        try:
            return isinstance(json.loads(first), dict)
        except (ValueError, RecursionError):
            return False

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        """Cut at lines; each slice knows how many lines come before it."""
        found = line_slices(source, target, (b"\n",), reach=options.max_line)
        lines = 0
        with open(source.path, "rb") as handle:
            for number, part in enumerate(found):
                found[number] = replace(part, first_line=lines)
                while len(found) > 1 and (chunk := handle.read(min(COUNT_BLOCK, part.end - handle.tell()))):
                    lines += chunk.count(b"\n")
        return found

    def read(self, part: Slice, options: TextOptions) -> Iterator[Batch]:
        before = part.first_line
        for batch, text in decoded_blocks(part, options):
            lines = text.removesuffix("\n").split("\n")
            for index, line in enumerate(lines):
                if line and not line.isspace():
                    _add_object(batch, line, index, before + index + 1, options)
            before += len(lines)
            yield batch


def _add_object(batch: Batch, line: str, index: int, number: int, options: TextOptions) -> None:
    place = f"{batch.source.name}:{number:,}"
    field, problem = options.text_field, ""
    value: Any = None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        problem = f"is not JSON ({error})"
    if not problem and not isinstance(value, dict):
        problem = f"is JSON but no object: {line[:40]!r}"
    elif not problem and not isinstance(value.get(field), str):
        has = ", ".join(sorted(map(str, value))) or "none"
        problem = f"has no text in a field {field!r} (it has: {has}); name the field with --text-field"
    if problem:
        if options.bad_lines == "error":
            raise InputError(f"{place} {problem}; --bad-lines skip ignores such lines and counts them")
        batch.skipped += 1
        return
    text = encodable(value[field])
    batch.repaired += (
        text != value[field]
    )  # "\\ud83d" alone: half a character, which only JSON can write down
    own = value.get(options.id_field)
    name = f"{batch.source.name}:{number}" if own is None else encodable(str(own))
    others = {key: own for key, own in value.items() if key not in (field, options.id_field)}
    batch.add_document(name, scalar_attributes(others))
    add_lines(batch, text, index)


READER = JsonLinesReader()
