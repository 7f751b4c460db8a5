"""Word pairs from a table, bare, labelled or rated: which columns hold what, and in which order words make a pair."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.text.tags import universal_tag, with_tag
from bagpack.errors import InputError, UsageError, did_you_mean
from bagpack.tasks.files import (
    Table,
    TextFile,
    find_column,
    listed,
    mapped_columns,
    plain,
    read_header,
    read_rows,
    read_text_file,
)
from bagpack.tasks.workbook import DateCell

Pair = tuple[str, str]
# In the order of preference; compared as `plain` writes them.
WORDS = (
    ("w1", "w2"),
    ("word1", "word2"),
    ("source", "target"),
    ("sourceword", "targetword"),
    ("first", "second"),
    ("firstword", "secondword"),
    ("term1", "term2"),
    ("noun1", "noun2"),
    ("lemma1", "lemma2"),
    ("worda", "wordb"),
    ("wort1", "wort2"),
    ("mot1", "mot2"),
)
# (head, dependent, the column with the role of the dependent)
ROLES = (("verb", "noun", "role"), ("predicate", "argument", "relation"))
LABELS = ("label", "labels")
# A label only where nothing else could be meant.
RELATIONS = ("relation", "relations", "relationtype", "class", "category")
# Labels of pairs that are in no relation, or not in the one that is meant.
NO_LABELS = frozenset({"no", "none", "other", "random", "negative", "false", "0", "not", "neither", "-"})
# Labels of relations that hold in both directions, as `plain` writes them.
SYMMETRIC = frozenset({
    "antonym", "antonyms", "opposite", "opposites", "synonym", "synonyms", "similar", "coordinate", "coordinates",
    "coord", "cohyponym", "cohyponyms", "sibling", "siblings",
})  # fmt: skip
BACKGROUND = "background"  # entry of a model's manifest: how many pairs were drawn from the corpus as `none`
SCORES = ("score", "rating", "scores", "ratings", "meanrating", "meanscore")
Kind = Literal["pairs", "relations", "ratings"]
LARGEST_RATING = 1e12  # squares and sums of larger ones would overflow, or fill a screen
_DECIMAL_COMMA = re.compile(r"(-?\d+),(\d+)")
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
class Dataset:
    """The pairs of a file, row by row, as written; repeated pairs are kept.

    Attributes
    ----------
    kind
        ``pairs``, ``relations`` (``labels`` is filled) or ``ratings`` (``scores`` is filled).
    columns
        Every column of the file by its lower-cased name: words, labels, groups, roles, sentences.
    group_column
        The column by which the data set itself is divided, or None: the verb in plausibility ratings, the relation
        where rows are labelled or rated *within* a relation.
    """

    path: str
    kind: Kind
    pairs: list[Pair]
    lines: list[int]
    columns: dict[str, list[str]]
    labels: list[str] = field(default_factory=list)
    scores: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    group_column: str | None = None

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def label_counts(self) -> dict[str, int]:
        """Rows per label, the most frequent first, ties in code-point order."""
        return dict(sorted(Counter(self.labels).items(), key=lambda item: (-item[1], item[0])))

    @property
    def is_multilabel(self) -> bool:
        """Whether some pair has two different labels."""
        labelled = set(zip(self.pairs, self.labels, strict=True)) if self.labels else set()
        return len(labelled) > len(set(self.pairs))

    def column(self, name: str) -> list[str]:
        """A column's values, to serve as groups: any of the file's columns, ``w1`` or ``w2``."""
        wanted = name.strip().lower()
        if wanted in ("w1", "w2"):
            return [pair[wanted == "w2"] for pair in self.pairs]
        found = find_column(list(self.columns), wanted)
        if found is None:
            raise UsageError(
                f"{self.path} has no column {name!r} to group by; {did_you_mean(name, self.columns)}it has "
                f"{listed(self.columns)}"
            )
        return self.columns[found]

    def joined(self, other: Dataset) -> Dataset:
        """The rows of both data sets, one after the other; only columns that both have are kept."""
        shared = [name for name in self.columns if name in other.columns]
        return replace(
            self,
            pairs=[*self.pairs, *other.pairs],
            lines=[*self.lines, *other.lines],
            columns={name: [*self.columns[name], *other.columns[name]] for name in shared},
            labels=[*self.labels, *other.labels],
            scores=np.concatenate([self.scores, other.scores]),
            group_column=self.group_column if self.group_column == other.group_column else None,
        )


def read_pairs(path: str | Path | TextFile, columns: Mapping[str, str] | None = None) -> Dataset:
    """Read the pairs of a table with a header, whatever else it has; ``-`` is standard input.

    Parameters
    ----------
    path
        Text with tabs, semicolons or commas, plain or compressed (gzip, bzip2, xz, zstd), or a spreadsheet (.xlsx,
        .ods, .xls).
    columns
        The file's own names for ``w1`` and ``w2``, where they are not among the recognised ones
        (`WORDS`); for ``pos1`` and ``pos2``, the columns with their parts of speech, or a tag.

    Raises
    ------
    InputError
        With the file, the line and the fix: missing columns, an empty word, a row of another width, no rows,
        not UTF-8.
    """
    return _read(read_text_file(path), columns, "pairs")


def read_dataset(
    path: str | Path | TextFile, task: Kind | None = None, columns: Mapping[str, str] | None = None
) -> Dataset:
    """Read labelled or rated pairs, as `read_pairs` reads pairs.

    Parameters
    ----------
    task
        ``relations`` or ``ratings``, where the columns leave it open.
    columns
        The file's own names for ``w1``, ``w2``, ``label`` and ``score``. Naming a label or a score also says
        which task is meant.

    Notes
    -----
    Labels are in ``label``, or in ``relation``, ``class`` or ``category`` where there is neither a label nor a score;
    scores are in ``score`` or ``rating``. A label *and* a score, or neither, is an error unless ``task`` decides.
    """
    if task not in (None, "relations", "ratings"):
        raise UsageError(f"task {task!r} is unknown; choose relations or ratings")
    return _read(read_text_file(path), columns, task)


def read_labelled_or_bare(file: TextFile, columns: Mapping[str, str] | None = None) -> Dataset:
    """Labelled or rated pairs; bare pairs where there is neither a label nor a score, or both and none is named."""
    try:
        return _read(file, columns, None)
    except UndecidedError:
        words = {name: given for name, given in (columns or {}).items() if name not in ("label", "score")}
        return read_pairs(file, words)


class UndecidedError(InputError):
    """A table has neither labels nor ratings, or both."""


def _read(file: TextFile, columns: Mapping[str, str] | None, kind: Kind | None) -> Dataset:
    """Read pairs with what belongs to the kind; None: labels or ratings, as the columns say."""
    header = read_header(file)  # what is wrong with it is reported before what is wrong with a row
    mapped = mapped_columns(header, columns)
    where = find_pair_columns(header, mapped)
    target = ""
    if kind != "pairs":
        kind, target = _find_target(header, mapped, kind, taken={where.first, where.second})
    table = read_rows(file)
    pairs = take_pairs(table, where)
    held = {name: table.column(name) for name in table.header if name}
    labels = _labels(table, target) if kind == "relations" else []
    scores = _scores(table, target) if kind == "ratings" else np.empty(0)
    file.raise_refused()
    group = _group_column(table, target, where.first) if target else None
    return Dataset(table.name, kind, pairs, table.lines, held, labels, scores, group)


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
                table.file.refuse(number, problem)
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
        table.file.refuse(number, problem)
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


# Labels and ratings -------------------------------------------------------------------------------------------------


def _find_target(
    table: Table, mapped: Mapping[str, str], task: Kind | None, taken: set[str]
) -> tuple[Kind, str]:
    names = {plain(name): name for name in reversed(table.header) if name and name not in taken}
    scores = [mapped["score"]] if "score" in mapped else [names[one] for one in SCORES if one in names]
    label = mapped.get("label") or next((names[one] for one in LABELS if one in names), None)
    if label is None and (task == "relations" or not scores):
        label = next((names[one] for one in RELATIONS if one in names), None)
    if task is None:
        if ("label" in mapped) != ("score" in mapped):
            task = "relations" if "label" in mapped else "ratings"
        elif label and scores:
            raise UndecidedError(
                f"{table.name} has both a label ({label}) and a score ({scores[0]}); "
                f"say which is meant with --columns label={label} or --columns score={scores[0]}"
            )
        else:
            task = "relations" if label else "ratings"
            if not label and not scores:
                raise UndecidedError(
                    f"{table.name} has neither a label nor a score column ({table.found}); "
                    f"name one with --columns label=NAME (relations) or --columns score=NAME (ratings)"
                )
    if task == "relations":
        if label is None:
            raise InputError(
                f"{table.name} has no label column ({table.found}); name it with --columns label=NAME"
            )
        return task, label
    if not scores:
        raise InputError(
            f"{table.name} has no score or rating column ({table.found}); "
            f"name it with --columns score=NAME, or --columns label=NAME for labels"
        )
    if len(scores) > 1:
        one, two = scores[:2]
        raise InputError(
            f"{table.name} has both a {one} and a {two} column; say which with --columns score={one} or --columns "
            f"score={two}"
        )
    return task, scores[0]


def _group_column(table: Table, target: str, head: str) -> str | None:
    relation = find_column(table.header, "relation")
    if relation is not None and target != relation:
        return relation
    return head if plain(head) == "verb" else None


def _labels(table: Table, target: str) -> list[str]:
    labels = table.column(target)
    for number, label in zip(table.lines, labels, strict=True):
        if problem := cell_problem(label, "label", target):
            table.file.refuse(number, problem)
    return labels


def _scores(table: Table, target: str) -> NDArray[np.float64]:
    cells = zip(table.lines, table.column(target), strict=True)
    return np.array([_number(table, line, cell, target) for line, cell in cells], np.float64)


def _number(table: Table, line: int, cell: str, target: str) -> float:
    cure = "write a number such as 3.5 or remove the row"
    try:
        if table.separator == ";":  # written where the decimal sign is a comma
            cell = _DECIMAL_COMMA.sub(r"\1.\2", cell)
        value = float(cell) if "_" not in cell else math.nan
    except ValueError:
        value = math.nan
        if cell.count(",") == 1 and "." not in cell:
            cure = "write the decimal point as a point, as in 3.5"
    if not math.isfinite(value):
        shown = (
            f"{cell!r} in column {target!r} is not a finite number" if cell else f"column {target!r} is empty"
        )
        table.file.refuse(line, f"{shown}; {cure}")
    elif abs(value) > LARGEST_RATING:
        problem = (
            f"{cell!r} in column {target!r} is beyond ±{LARGEST_RATING:,.0f}; divide all ratings by a number"
        )
        table.file.refuse(line, problem)
    return value


# Words --------------------------------------------------------------------------------------------------------------


def normalise_target(word: str) -> str:
    """The target with underscores as blanks and blanks single, as runs of tokens are looked up.

    Sets made from WordNet write *radiation_therapy*. The readers keep words as written, because a corpus may
    hold *radiation_therapy* as one token: look a word up as written first and in this form second.

    >>> normalise_target("radiation_therapy")
    'radiation therapy'
    """
    return " ".join(word.replace("_", " ").split()) or word


def distinct_words(pairs: Iterable[Pair]) -> list[str]:
    """Every word of the pairs once, in the order of first appearance.

    >>> distinct_words([("cat", "lion"), ("lion", "animal")])
    ['cat', 'lion', 'animal']
    """
    return list(dict.fromkeys(word for pair in pairs for word in pair))


def reversed_pairs(pairs: Sequence[Pair], labels: Sequence[str]) -> list[Pair]:
    """The pairs of asymmetric labels in reverse, each once, without those that are given in that order too.

    A label is symmetric if one of its pairs is given in both orders, or by its name (*antonym*); one for unrelated
    pairs (*random*) says nothing about direction.

    >>> reversed_pairs([("leaf", "tree"), ("hot", "cold"), ("cup", "war")], ["part of", "antonym", "random"])
    [('tree', 'leaf')]
    """
    given = set(zip(pairs, labels, strict=True))
    both_ways = {label for (w1, w2), label in given if w1 != w2 and ((w2, w1), label) in given}
    both_ways |= {label for label in labels if plain(label) in SYMMETRIC or label.lower() in NO_LABELS}
    turned = [pair[::-1] for pair, label in zip(pairs, labels, strict=True) if label not in both_ways]
    listed = set(pairs)
    return [pair for pair in dict.fromkeys(turned) if pair not in listed]


def unordered_pairs(pairs: Iterable[Pair]) -> list[Pair]:
    """Every pair once whatever its order, as it first appears.

    >>> unordered_pairs([("cat", "lion"), ("lion", "cat")])
    [('cat', 'lion')]
    """
    first: dict[Pair, Pair] = {}
    for w1, w2 in pairs:
        first.setdefault((w1, w2) if w1 <= w2 else (w2, w1), (w1, w2))
    return list(first.values())
