"""Attributes of documents: from the fields of a record, and from a table that describes files."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bagpack.corpus.readers.base import Source
from bagpack.corpus.segment import Attributes
from bagpack.corpus.text.casefold import CONTROLS
from bagpack.errors import InputError
from bagpack.numbers import many

LONGEST = 256  # characters of a value; longer ones are texts
FILE_COLUMNS = ("file", "filename", "path", "name", "id")


def scalar_attributes(record: Mapping[str, Any]) -> Attributes:
    """The fields of a record that can be attributes: short strings, numbers, booleans and dates."""
    found = ((attribute_name(name), _text(value)) for name, value in record.items())
    return tuple((name, value) for name, value in found if name and value and len(value) <= LONGEST)


def attribute_name(name: str) -> str:
    """A name as `--where` takes it: lower case, without spaces."""
    return CONTROLS.sub("_", encodable(name).strip().lower())


def _text(value: Any) -> str:
    if value is None or isinstance(value, Mapping | list | tuple):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.15g}" if math.isfinite(value) else ""
    return CONTROLS.sub(" ", encodable(str(value))).strip()


def encodable(text: str) -> str:
    """Text that can be written; half a character becomes a question mark."""
    return text.encode(errors="replace").decode()


def add_metadata(sources: list[Source], path: str) -> list[Source]:
    """Give each source the attributes that a table has for it, found by its path, its file name or its stem.

    The table has a header; the first of its columns file, filename, path, name or id (else the first of all) says
    which file a row describes.
    """
    table = _read_table(path)
    folder = Path(os.path.abspath(path)).parent
    found = []
    for source in sources:
        file = Path(source.path)
        names = [source.name, os.path.normpath(source.name), str(file), file.name, file.name.split(".")[0]]
        names += [str(file.relative_to(folder))] if file.is_relative_to(folder) else []
        row = next((table[name] for name in names if name in table), None)
        found.append(replace(source, attributes=scalar_attributes(row)) if row else source)
    if found == sources:
        problem = f"describes none of the {many(len(sources), 'file')} (its first is {next(iter(table))!r})"
        raise InputError(f"{path} {problem}; name them by path or file name in the column {FILE_COLUMNS[0]}")
    return found


def _read_table(path: str) -> dict[str, dict[str, str]]:
    """The attributes of each file."""
    from bagpack.tasks.files import read_table

    found = read_table(path)
    names = [attribute_name(name) for name in found.header]
    key = next((names.index(name) for name in FILE_COLUMNS if name in names), 0)
    table: dict[str, dict[str, str]] = {}
    for line, row in zip(found.lines, found.rows, strict=True):
        if not row[key] or row[key] in table:
            found.refuse(line, f"{row[key]!r} is no file, or one that a row above describes; correct it")
        table[row[key]] = {name: cell for name, cell in zip(names, row, strict=True) if name != names[key]}
    found.check()
    return table
