"""Labelled and rated pairs: relations (a label per row) and ratings (a number per row)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bagpack.errors import InputError, UsageError, did_you_mean
from bagpack.tasks.columns import LABELS, RELATIONS, SCORES, find, listed, plain
from bagpack.tasks.pairs import PairList, cell_problem, find_pair_columns, take_pairs
from bagpack.tasks.table import Table, mapped_columns, read_header, read_table
from bagpack.tasks.textfile import TextFile, read_text_file
from bagpack.tasks.words import Pair

Kind = Literal["relations", "ratings"]
LARGEST_RATING = 1e12  # squares and sums of larger ones would overflow, or fill a screen
_DECIMAL_COMMA = re.compile(r"(-?\d+),(\d+)")


@dataclass(frozen=True)
class MultiLabel:
    """A set of relations by distinct pair: what labels each pair has, and which rows say so."""

    pairs: list[Pair]
    labels: list[frozenset[str]]
    rows: list[list[int]]


@dataclass(frozen=True, kw_only=True)
class Dataset(PairList):
    """The rows of a data set, as written and in the file's order.

    Attributes
    ----------
    kind
        ``relations`` (``labels`` is filled) or ``ratings`` (``scores`` is filled).
    labels, scores
        One value per row; empty for the other kind.
    extra
        Every other column, by its lower-cased name: groups, roles, sentences. The columns that hold the words
        are in :meth:`column`.
    target_column
        The file's name of the column that holds the labels or scores.
    pair_columns
        The file's names of the two word columns, in the file's order.
    group_column
        The column by which the set itself is divided, or None: the verb in plausibility ratings, the relation
        where rows are labelled or rated *within* a relation.
    """

    kind: Kind
    labels: list[str]
    scores: NDArray[np.float64]
    target_column: str
    pair_columns: tuple[str, str]
    word_columns: tuple[list[str], list[str]]
    group_column: str | None = None

    @property
    def label_counts(self) -> dict[str, int]:
        """Rows per label, the most frequent first, ties in code-point order."""
        return dict(sorted(Counter(self.labels).items(), key=lambda item: (-item[1], item[0])))

    @property
    def is_multilabel(self) -> bool:
        """Whether some pair has two different labels."""
        labelled = set(zip(self.pairs, self.labels, strict=True)) if self.labels else set()
        return len(labelled) > len(set(self.pairs))

    def by_pair(self) -> MultiLabel:
        """The multi-label view: each distinct pair once with the set of its labels."""
        if self.kind != "relations":
            raise UsageError(f"{self.path} holds {self.kind}, which have no labels; use a set of relations")
        rows: dict[Pair, list[int]] = {}
        for row, pair in enumerate(self.pairs):
            rows.setdefault(pair, []).append(row)
        labels = [frozenset(self.labels[row] for row in of_pair) for of_pair in rows.values()]
        return MultiLabel(list(rows), labels, list(rows.values()))

    def column(self, name: str) -> list[str]:
        """A column's values, to serve as groups: any of the file's columns, ``w1`` or ``w2``."""
        wanted = name.strip().lower()
        columns = [*self.pair_columns, self.target_column, *self.extra]
        wanted = wanted if wanted in ("w1", "w2") else find(columns, wanted) or wanted
        if wanted in self.extra:
            return self.extra[wanted]
        if wanted in self.pair_columns:
            return self.word_columns[self.pair_columns.index(wanted)]
        if wanted in ("w1", "w2"):
            return [pair[wanted == "w2"] for pair in self.pairs]
        if wanted == self.target_column:
            return self.labels or [f"{score:g}" for score in self.scores]
        raise UsageError(
            f"{self.path} has no column {name!r} to group by; {did_you_mean(name, columns)}it has {listed(columns)}"
        )

    def select(self, rows: Sequence[int] | NDArray[np.integer]) -> Dataset:
        """The data set of some rows, in the order given."""
        at = [int(row) for row in rows]
        first, second = self.word_columns
        return replace(
            self,
            pairs=[self.pairs[row] for row in at],
            lines=[self.lines[row] for row in at],
            extra={name: [values[row] for row in at] for name, values in self.extra.items()},
            labels=[self.labels[row] for row in at] if self.labels else [],
            scores=self.scores[at] if self.kind == "ratings" else self.scores,
            word_columns=([first[row] for row in at], [second[row] for row in at]),
        )

    def subsets(self, column: str | None = None) -> Iterator[tuple[str, Dataset]]:
        """Each value of a column with the data set of its rows, in the order of first appearance.

        Without an argument the column is ``group_column``. In a set such as SemEval-2007 task 4, where rows
        say true or false within each of seven relations, these are the seven binary tasks.
        """
        name = column or self.group_column
        if name is None:
            raise UsageError(f"{self.path} has no column that divides it; name one of its columns")
        rows: dict[str, list[int]] = {}
        for row, value in enumerate(self.column(name)):
            rows.setdefault(value, []).append(row)
        for value, of_value in rows.items():
            yield value, self.select(of_value)


def read_dataset(
    path: str | Path | TextFile, task: Kind | None = None, columns: Mapping[str, str] | None = None
) -> Dataset:
    """Read labelled or rated pairs from a table with a header; ``-`` is standard input.

    Parameters
    ----------
    path
        Text with tabs, semicolons or commas, plain or compressed, or a spreadsheet (.xlsx, .ods, .xls).
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
        raise UsageError(f"--task {task} is unknown; choose relations or ratings")
    file = read_text_file(path)
    header = read_header(file)
    mapped = mapped_columns(header, columns)
    where = find_pair_columns(header, mapped)
    kind, target = _find_target(header, mapped, task, taken={where.first, where.second})
    table = read_table(file)
    pairs = take_pairs(table, where)
    used = {where.first, where.second, target}
    return Dataset(
        path=table.name,
        pairs=pairs,
        lines=table.lines,
        extra={name: table.column(name) for name in table.header if name and name not in used},
        kind=kind,
        labels=_labels(table, target) if kind == "relations" else [],
        scores=_scores(table, target) if kind == "ratings" else np.empty(0, np.float64),
        target_column=target,
        pair_columns=(where.first, where.second),
        word_columns=(table.column(where.first), table.column(where.second)),
        group_column=_group_column(table, target, where.first),
    )


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
            raise InputError(
                f"{table.name} has both a label ({label}) and a score ({scores[0]}); "
                f"say which is meant with --task relations or --task ratings"
            )
        else:
            task = "relations" if label else "ratings"
            if not label and not scores:
                raise InputError(
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
            f"name it with --columns score=NAME, or use --task relations"
        )
    if len(scores) > 1:
        one, two = scores[:2]
        cure = f"say which with --columns score={one} or --columns score={two}"
        if table.file.uploaded:
            cure = "remove one of them"
        raise InputError(f"{table.name} has both a {one} and a {two} column; {cure}")
    return task, scores[0]


def _group_column(table: Table, target: str, head: str) -> str | None:
    relation = find(table.header, "relation")
    if relation is not None and target != relation:
        return relation
    return head if plain(head) == "verb" else None


def _labels(table: Table, target: str) -> list[str]:
    labels = table.column(target)
    for number, label in zip(table.lines, labels, strict=True):
        if problem := cell_problem(label, "label", target):
            table.file.refuse(table.file.error(number, problem), number)
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
        table.file.refuse(table.file.error(line, f"{shown}; {cure}"), line)
    elif abs(value) > LARGEST_RATING:
        problem = (
            f"{cell!r} in column {target!r} is beyond ±{LARGEST_RATING:,.0f}; divide all ratings by a number"
        )
        table.file.refuse(table.file.error(line, problem), line)
    return value
