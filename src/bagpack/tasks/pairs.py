"""Word pairs from a table: which columns hold the two words, and in which order they make a pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bagpack.corpus.text.tagsets import universal_tag, with_tag
from bagpack.errors import InputError
from bagpack.tasks.columns import ROLES, WORDS, plain
from bagpack.tasks.table import Table, mapped_columns, read_header, read_table
from bagpack.tasks.textfile import TextFile, read_text_file
from bagpack.tasks.words import Pair, distinct_words
from bagpack.tasks.workbook import DateCell

_HEADER_WITHIN = 20  # lines that are searched for a header, for a message
_FORMULA_ERRORS = frozenset({"#n/a", "#name?", "#ref!", "#value!", "#div/0!", "#null!", "#num!"})
# Other names that data sets have for parts of speech.
SPELLINGS = {"J": "ADJ", "S": "ADJ", "ADJECTIVE": "ADJ", "ADVERB": "ADV"}
_SUBJECT_ROLES = frozenset({"a0", "arg0", "nsubj", "subj", "subject", "agent"})


@dataclass(frozen=True)
class PairColumns:
    """Where a table's pairs are.

    ``role`` is the column whose value decides the order, or None where the columns themselves are the order. ``tags``
    are the columns with the parts of speech of the two words, or a tag for all rows.
    """

    first: str
    second: str
    role: str | None = None
    tags: tuple[str | None, str | None] = (None, None)


@dataclass(frozen=True)
class PairList:
    """The pairs of a file, row by row, as written; repeated pairs are kept."""

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
        Text with tabs, semicolons or commas, plain or compressed (gzip, bzip2, xz, zstd), or a spreadsheet (.xlsx,
        .ods, .xls).
    columns
        The file's own names for ``w1`` and ``w2``, where they are not among the recognised ones
        (:mod:`bagpack.tasks.columns`); for ``pos1`` and ``pos2``, the columns with their parts of speech, or a tag.

    Raises
    ------
    InputError
        With the file, the line and the fix: missing columns, an empty word, a row of another width, no rows,
        not UTF-8.
    """
    file = read_text_file(path)
    header = read_header(file)
    where = find_pair_columns(header, mapped_columns(header, columns))
    table = read_table(file)
    pairs = take_pairs(table, where)
    extra = {
        name: table.column(name) for name in table.header if name and name not in (where.first, where.second)
    }
    return PairList(table.name, pairs, table.lines, extra)


def find_pair_columns(table: Table, mapped: Mapping[str, str]) -> PairColumns:
    """Decide which columns hold the words; a mapping by the user comes before the recognised names."""
    tags = mapped.get("pos1"), mapped.get("pos2")
    if "w1" in mapped and "w2" in mapped:
        return PairColumns(mapped["w1"], mapped["w2"], tags=tags)
    names = {plain(name): name for name in reversed(table.header) if name}
    for one, two in WORDS:
        first, second = mapped.get("w1") or names.get(one), mapped.get("w2") or names.get(two)
        if first and second:
            return PairColumns(first, second, tags=tags)
    for head, dependent, role in ROLES:
        if not {"w1", "w2"} & mapped.keys() and head in names and dependent in names:
            return PairColumns(names[head], names[dependent], names.get(role), tags)
    raise InputError(f"{table.name} has no columns w1 and w2 ({table.found}); {_cure(table)}")


def _cure(table: Table) -> str:
    """What to do about a header without the words: it may be further down, missing, or have other names."""
    for number, line in enumerate(table.file.lines[:_HEADER_WITHIN], 1):
        cells = {plain(cell.strip('"')) for cell in line.split(table.separator)}
        if number > 1 and any(one in cells and two in cells for one, two in WORDS):
            return f"the header seems to be in line {number}: remove the lines above it"
    if table.file.uploaded:
        return "call those with the words w1 and w2 in the first line, or add a header if the first line is a pair"
    a, b = table.header if len(table.header) == 2 else ("NAME", "NAME")
    return f"name them with --columns w1={a},w2={b}, or add a header line if the first line is a pair"


def take_pairs(table: Table, where: PairColumns) -> list[Pair]:
    """The pair of each row; with roles, a subject comes first and everything else second."""
    first, second = table.places[where.first], table.places[where.second]
    role = table.places[where.role] if where.role else None
    pairs = []
    for number, row in zip(table.lines, table.rows, strict=True):
        for at in (first, second):
            if problem := cell_problem(row[at], "word", table.header[at]):
                table.file.refuse(table.file.error(number, problem), number)
        pair = (
            with_tag(row[first], _tag_in(table, row, number, where.tags[0])),
            with_tag(row[second], _tag_in(table, row, number, where.tags[1])),
        )
        pairs.append(pair[::-1] if role is not None and is_subject(row[role]) else pair)
    return pairs


def _tag_in(table: Table, row: Sequence[str], number: int, column: str | None) -> str | None:
    """The part of speech that a row gives to a word; an empty cell gives none."""
    if column is None or column not in table.places:
        return universal_tag(column or "")
    cell = row[table.places[column]].strip().upper()
    if cell and universal_tag(SPELLINGS.get(cell, cell)) is None:
        problem = (
            f"the part of speech in column {column!r} is {cell!r}; write a universal tag such as NOUN, or N"
        )
        table.file.refuse(table.file.error(number, problem), number)
    return universal_tag(SPELLINGS.get(cell, cell))


def cell_problem(cell: str, what: str, column: str) -> str:
    """What is wrong with the cell of a word or a label, and the fix; nothing if it can be one."""
    if not cell:
        return f"the {what} in column {column!r} is empty; fill it in or remove the row"
    if isinstance(cell, DateCell):
        return (
            f"the {what} in column {column!r} is the date {cell}, which a spreadsheet may have made of a word; "
            f"format the column as text and type it again"
        )
    if cell.lower() in _FORMULA_ERRORS:
        return f"the {what} in column {column!r} is {cell}, an error of the spreadsheet; correct the formula"
    return ""


def is_subject(role: str) -> bool:
    """Whether a role is that of a subject: A0, nsubj, and nsubj_amod (the adjective of a subject).

    >>> is_subject("A0"), is_subject("nsubj_amod"), is_subject("A1"), is_subject("nsubjpass")
    (True, True, False, False)
    """
    role = role.strip().lower()
    return role in _SUBJECT_ROLES or role.startswith("nsubj_")
