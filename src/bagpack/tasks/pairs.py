"""Word pairs from a table: which columns hold the two words, and in which order they make a pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bagpack.errors import InputError
from bagpack.tasks.table import Table, mapped_columns, read_table
from bagpack.tasks.textfile import TextFile
from bagpack.tasks.words import Pair, distinct_words

_WORD_COLUMNS = (("w1", "w2"), ("word1", "word2"))
# (head, dependent, the column that says which role the dependent plays)
_ROLE_COLUMNS = (("verb", "noun", "role"), ("predicate", "argument", "relation"))
_SUBJECT_ROLES = frozenset({"a0", "arg0", "nsubj", "subj", "subject", "agent"})


@dataclass(frozen=True)
class PairColumns:
    """Where a table's pairs are.

    ``role`` is the column whose value decides the order, or None where the columns themselves are the order.
    """

    first: str
    second: str
    role: str | None = None


@dataclass(frozen=True)
class PairList:
    """The pairs of a file, row by row, as written; a pair that stands there twice is there twice."""

    path: str
    pairs: list[Pair]
    lines: list[int]
    extra: dict[str, list[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def duplicates(self) -> int:
        """How many rows repeat the pair of an earlier row."""
        return len(self.pairs) - len(set(self.pairs))

    @property
    def words(self) -> list[str]:
        """Each word once, in the order of first appearance."""
        return distinct_words(self.pairs)


def read_pairs(path: str | Path | TextFile, columns: Mapping[str, str] | None = None) -> PairList:
    """Read the pairs of a table with a header; ``-`` is standard input.

    Parameters
    ----------
    path
        A TSV file, or a .csv file, plain or compressed (.gz, .bz2, .xz, .zst).
    columns
        The file's own names for ``w1`` and ``w2``, where they are not among the recognised ones
        (w1/w2, word1/word2, verb/noun, predicate/argument).

    Raises
    ------
    InputError
        With the file, the line and the cure: missing columns, an empty word, a row of another width, no rows,
        not UTF-8.
    """
    table = read_table(path)
    where = find_pair_columns(table, mapped_columns(table, columns))
    pairs = take_pairs(table, where)
    extra = {
        name: table.column(name) for name in table.header if name and name not in (where.first, where.second)
    }
    return PairList(table.name, pairs, table.lines, extra)


def find_pair_columns(table: Table, mapped: Mapping[str, str]) -> PairColumns:
    """Decide which columns hold the words; a mapping by the user comes before the recognised names."""
    if "w1" in mapped and "w2" in mapped:
        return PairColumns(mapped["w1"], mapped["w2"])
    for first, second in _WORD_COLUMNS:
        first, second = mapped.get("w1", first), mapped.get("w2", second)
        if first in table.header and second in table.header:
            return PairColumns(first, second)
    for head, dependent, role in _ROLE_COLUMNS:
        if not {"w1", "w2"} & mapped.keys() and head in table.header and dependent in table.header:
            return PairColumns(head, dependent, role if role in table.header else None)
    found = [name or "(no name)" for name in table.header]
    a, b = (found[0], found[1]) if len(found) == 2 else ("NAME", "NAME")
    cure = f"name them with --columns w1={a},w2={b}"
    if table.file.uploaded:
        cure = "call those that hold the words w1 and w2 in the first line"
    raise InputError(
        f"{table.name} has no columns w1 and w2 (found: {', '.join(found)}); "
        f"{cure}, or add a header line if the first line is a pair"
    )


def take_pairs(table: Table, where: PairColumns) -> list[Pair]:
    """The pair of each row; with roles, a subject stands first and everything else stands second."""
    first, second = table.header.index(where.first), table.header.index(where.second)
    role = table.header.index(where.role) if where.role else None
    pairs = []
    for number, row in zip(table.lines, table.rows, strict=True):
        for at in (first, second):
            if not row[at]:
                empty = f"the word in column {table.header[at]!r} is empty; fill it in or remove the row"
                table.file.refuse(table.file.error(number, empty), number)
        pair = (row[first], row[second])
        pairs.append(pair[::-1] if role is not None and is_subject(row[role]) else pair)
    return pairs


def is_subject(role: str) -> bool:
    """Whether a role is that of a subject: A0, nsubj, and nsubj_amod (the adjective of a subject).

    >>> is_subject("A0"), is_subject("nsubj_amod"), is_subject("A1"), is_subject("nsubjpass")
    (True, True, False, False)
    """
    role = role.strip().lower()
    return role in _SUBJECT_ROLES or role.startswith("nsubj_")
