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

from bagpack.arrays import Floats
from bagpack.corpus.text.tags import universal_tag, with_tag
from bagpack.errors import InputError, UsageError, did_you_mean
from bagpack.tasks.files import Table, TextFile, find_column, listed, mapped_columns, plain, read_table
from bagpack.tasks.workbook import DateCell

Pair = tuple[str, str]
# Names of the two columns, in the order of preference; compared as `plain` writes them.
WORDS = (
    ("w1", "w2"), ("word1", "word2"), ("source", "target"), ("sourceword", "targetword"), ("first", "second"),
    ("firstword", "secondword"), ("term1", "term2"), ("noun1", "noun2"), ("lemma1", "lemma2"), ("worda", "wordb"),
)  # fmt: skip
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
class Dataset:
    """The pairs of a file, row by row, as written; repeated pairs are kept.

    ``kind`` is pairs, relations (with ``labels``) or ratings (with ``scores``). ``columns`` has every column of the
    file by its lower-cased name. ``group_column`` divides the data set, or is None: the verb in plausibility ratings,
    the relation where rows are labelled or rated *within* a relation.
    """

    path: str
    kind: Kind
    pairs: list[Pair]
    lines: list[int]
    columns: dict[str, list[str]]
    labels: list[str] = field(default_factory=list)
    scores: Floats = field(default_factory=lambda: np.empty(0))
    group_column: str | None = None

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def label_counts(self) -> dict[str, int]:
        """Rows per label, the most frequent first, ties in code-point order."""
        return dict(sorted(Counter(self.labels).items(), key=lambda item: (-item[1], item[0])))

    def column(self, name: str) -> list[str]:
        """A column's values, to serve as groups: any of the file's columns, ``w1`` or ``w2``."""
        wanted = name.strip().lower()
        if wanted in ("w1", "w2"):
            return [pair[wanted == "w2"] for pair in self.pairs]
        found = find_column(self.columns, wanted)
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
            self, pairs=[*self.pairs, *other.pairs], lines=[*self.lines, *other.lines],
            columns={name: [*self.columns[name], *other.columns[name]] for name in shared},
            labels=[*self.labels, *other.labels], scores=np.concatenate([self.scores, other.scores]),
            group_column=self.group_column if self.group_column == other.group_column else None,
        )  # fmt: skip


def read_pairs(path: str | Path | TextFile, columns: Mapping[str, str] | None = None) -> Dataset:
    """Read the pairs of a table with a header, text or a spreadsheet, whatever else it has; ``-`` is standard input.

    ``columns`` has the file's own names for ``w1`` and ``w2``, where they are not among the recognised ones (`WORDS`);
    for ``pos1`` and ``pos2``, the columns with their parts of speech, or a tag.
    """
    return _read(path, columns, "pairs")


def read_dataset(
    path: str | Path | TextFile, task: Kind | None = None, columns: Mapping[str, str] | None = None
) -> Dataset:
    """Read labelled or rated pairs, as `read_pairs` reads pairs.

    Labels are in ``label``, or in ``relation``, ``class`` or ``category`` where there is neither a label nor a score;
    scores are in ``score`` or ``rating``. A label *and* a score, or neither, is an error unless ``task`` (``relations``
    or ``ratings``) decides, or ``columns``, in which the file's own name of a label or of a score is given.
    """
    return _read(path, columns, task)


class UndecidedError(InputError):
    """A table has neither labels nor ratings, or both."""


def _read(path: str | Path | TextFile, columns: Mapping[str, str] | None, kind: Kind | None) -> Dataset:
    """Read pairs with what belongs to the kind; None: labels or ratings, as the columns say."""
    table = read_table(path)
    mapped = mapped_columns(table, columns)
    first, second, role = _find_words(table, mapped)
    target, group = "", None
    if kind != "pairs":
        kind, target = _find_target(table, mapped, kind, taken={first, second})
        relation = find_column(table.header, "relation")
        group = relation if target != relation else None
        group = group or (first if plain(first) == "verb" else None)
    pairs = _take_pairs(table, first, second, role, (mapped.get("pos1"), mapped.get("pos2")))
    labels = table.column(target) if kind == "relations" else []
    for number, label in zip(table.lines, labels, strict=False):
        _check_cell(table, number, label, "label", target)
    rated = zip(table.lines, table.column(target), strict=True) if kind == "ratings" else ()
    scores = np.array([_number(table, number, cell, target) for number, cell in rated], np.float64)
    table.check()
    held = {name: table.column(name) for name in table.header if name}
    return Dataset(table.file.name, kind, pairs, table.lines, held, labels, scores, group)


def _find_words(table: Table, mapped: Mapping[str, str]) -> tuple[str, str, str | None]:
    """The columns of the two words, the user's before the recognised ones; and the one whose role decides the order."""
    if "w1" in mapped and "w2" in mapped:
        return mapped["w1"], mapped["w2"], None
    names = {plain(name): name for name in reversed(table.header) if name}
    for one, two in WORDS:
        first, second = mapped.get("w1") or names.get(one), mapped.get("w2") or names.get(two)
        if first and second:
            return first, second, None
    for head, dependent, role in ROLES:
        if not {"w1", "w2"} & mapped.keys() and head in names and dependent in names:
            return names[head], names[dependent], names.get(role)
    a, b = table.header if len(table.header) == 2 else ("NAME", "NAME")
    cure = f"name them with --columns w1={a},w2={b}, or add a header line if the first line is a pair"
    for number, line in enumerate(table.file.lines[1:_HEADER_WITHIN], 2):
        cells = {plain(cell.strip('"')) for cell in line.split(table.separator)}
        if any(one in cells and two in cells for one, two in WORDS):
            cure = f"the header seems to be in line {number}: remove the lines above it"
            break
    raise InputError(f"{table.file.name} has no columns w1 and w2 ({table.found}); {cure}")


def _take_pairs(
    table: Table, first: str, second: str, role: str | None, tags: tuple[str | None, str | None]
) -> list[Pair]:
    """The pair of each row; with roles, a subject comes first and everything else second."""
    pairs, places = [], (table.places[first], table.places[second])
    for number, row in zip(table.lines, table.rows, strict=True):
        for at in places:
            _check_cell(table, number, row[at], "word", table.header[at])
        given = zip(places, tags, strict=True)
        one, two = (with_tag(row[at], _tag_in(table, row, number, tag)) for at, tag in given)
        pairs.append((two, one) if role and is_subject(row[table.places[role]]) else (one, two))
    return pairs


def _tag_in(table: Table, row: Sequence[str], number: int, column: str | None) -> str | None:
    """The part of speech that a row gives to a word; an empty cell gives none."""
    if column is None or column not in table.places:
        return universal_tag(column or "")
    cell = row[table.places[column]].strip().upper()
    tag = universal_tag(SPELLINGS.get(cell, cell))
    if cell and tag is None:
        fix = "write a universal tag such as NOUN, or N"
        table.refuse(number, f"the part of speech in column {column!r} is {cell!r}; {fix}")
    return tag


def _check_cell(table: Table, number: int, cell: str, what: str, column: str) -> None:
    """Refuse the row if the cell can be no word or label."""
    if not cell:
        problem = "empty; fill it in or remove the row"
    elif isinstance(cell, DateCell):
        problem = f"the date {cell}, perhaps made of a word; format the column as text and type it again"
    elif cell.lower() in _FORMULA_ERRORS:
        problem = f"{cell}, an error of the spreadsheet; correct the formula"
    else:
        return
    table.refuse(number, f"the {what} in column {column!r} is {problem}")


def is_subject(role: str) -> bool:
    """Whether a role is that of a subject: A0, nsubj, and nsubj_amod (the adjective of a subject)."""
    return role.strip().lower() in _SUBJECT_ROLES or role.strip().lower().startswith("nsubj_")


def _find_target(
    table: Table, mapped: Mapping[str, str], task: Kind | None, taken: set[str]
) -> tuple[Kind, str]:
    """What is to be learned, and its column."""
    name = table.file.name
    names = {plain(own): own for own in reversed(table.header) if own and own not in taken}
    scores = [mapped["score"]] if "score" in mapped else [names[one] for one in SCORES if one in names]
    label = mapped.get("label") or next((names[one] for one in LABELS if one in names), None)
    if label is None and (task == "relations" or not scores):
        label = next((names[one] for one in RELATIONS if one in names), None)
    if task is None and ("label" in mapped) != ("score" in mapped):
        task = "relations" if "label" in mapped else "ratings"
    if task is None and label and scores:
        raise UndecidedError(
            f"{name} has both a label ({label}) and a score ({scores[0]}); "
            f"say which is meant with --columns label={label} or --columns score={scores[0]}"
        )
    if label and task != "ratings":
        return "relations", label
    if not scores or task == "relations":
        raise UndecidedError(
            f"{name} has neither a label nor a score column ({table.found}); "
            f"name one with --columns label=NAME (relations) or --columns score=NAME (ratings)"
        )
    if len(scores) > 1:
        one, two = scores[:2]
        raise InputError(
            f"{name} has both a {one} and a {two} column; say which with --columns score={one} or --columns score={two}"
        )
    return "ratings", scores[0]


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
    if not math.isfinite(value) or abs(value) > LARGEST_RATING:
        table.refuse(line, f"{cell!r} in column {target!r} is not a number up to ±{LARGEST_RATING:g}; {cure}")
    return value


def normalise_target(word: str) -> str:
    """The target with underscores as blanks and blanks single: *radiation_therapy*, unless the corpus has it."""
    return " ".join(word.replace("_", " ").split()) or word


def distinct_words(pairs: Iterable[Pair]) -> list[str]:
    """Every word of the pairs once, in the order of first appearance."""
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
    """Every pair once whatever its order, as it first appears."""
    first: dict[Pair, Pair] = {}
    for w1, w2 in pairs:
        first.setdefault((w1, w2) if w1 <= w2 else (w2, w1), (w1, w2))
    return list(first.values())
