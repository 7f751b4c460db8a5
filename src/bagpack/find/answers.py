"""Answers of an annotator, appended to the file of examples one by one.

An answer is on the disk before the next question is asked. The file stays what it was, a table with w1, w2 and label;
the first answer adds the columns `annotator` and `time`, and nothing is written before it.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

from bagpack.corpus.readers.base import SUFFIXES
from bagpack.errors import InputError, UsageError
from bagpack.files import disk_errors, lock, replacing
from bagpack.find.examples import Examples, Pair, read_examples
from bagpack.sheets import table_text
from bagpack.tasks.files import SEPARATOR_LINE, Table, mapped_columns, plain, read_table, read_text_file
from bagpack.tasks.pairs import LABELS, NO_LABELS, RELATIONS, find_pair_columns

ANNOTATOR, TIME = "annotator", "time"
LONGEST_LABEL = 100


@dataclass(frozen=True)
class Answer:
    """The label that an annotator gave to a pair, and its row in the file."""

    pair: Pair
    label: str
    row: bytes


class AnswerFile:
    """A file of examples that answers are appended to; only one process at a time.

    Parameters
    ----------
    path
        A TSV or CSV file in UTF-8 with w1, w2 and, optionally, label.
    label
        The relation that is taught, if the file has several labels.
    annotator
        Written into the column of that name.
    columns
        The file's own names of w1, w2 and label.
    """

    _handle: FileIO

    def __init__(
        self, path: str | Path, label: str | None = None, annotator: str = "",
        columns: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.path = Path(os.path.realpath(path))  # a link stays one
        self.annotator = clean_label(annotator, "--annotator") if annotator else ""
        self._wanted, self._columns = label, columns
        _check_kind(self.path)
        self._answers: list[Answer] = []
        self._size = 0
        self._load()

    @property
    def answers(self) -> Sequence[Answer]:
        """The answers of this session, the oldest first."""
        return self._answers

    def close(self) -> None:
        """Release the file."""
        self._handle.close()

    def refresh(self) -> bool:
        """Read the file again if someone else changed it; whether that was so."""
        try:
            current = os.stat(self.path)
        except OSError as error:
            raise InputError(
                f"{self.path} is no longer there ({error.strerror}); put it back, nothing else is lost"
            ) from None
        if os.path.samestat(current, os.fstat(self._handle.fileno())) and current.st_size == self._size:
            return False
        self._answers.clear()  # they are examples of the file now, if it still has them
        self.close()
        self._load()
        return True

    def add(self, pair: Pair, label: str, now: datetime | None = None) -> None:
        """Append an answer; when this returns, it is on the disk."""
        label = clean_label(label, "the label")
        self.refresh()
        if (known := self.label_of(pair)) is not None:
            raise InputError(f"{pair[0]} – {pair[1]} is in {self.path.name} already, as {known}")
        if self._missing:
            self._widen()
            self.close()
            self._load()  # the file that was locked is no longer the one of this name
        self._end_last_line()
        time = (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
        cells = dict.fromkeys(self._table.header, "")
        cells |= {self._w1: pair[0], self._w2: pair[1], self._label: label}
        cells |= {ANNOTATOR: self.annotator, TIME: time}
        row = table_text([list(cells.values())], self._table.separator).encode()
        handle = self._handle
        try:
            with disk_errors(self.path):
                handle.seek(self._size)
                left = memoryview(row)
                while left:
                    left = left[handle.write(left) :]  # a full disk takes a part, then nothing
                os.fsync(handle.fileno())
        except BaseException:
            handle.truncate(self._size)  # half a row is of no use
            raise
        self._size += len(row)
        self._answers.append(Answer(pair, label, row))
        self._labels[pair] = label

    def undo(self) -> Answer:
        """Remove the last answer of this session from the file, and return it."""
        if not self._answers or self.refresh():
            raise InputError("there is no answer of this session to undo; edit the file for older ones")
        last = self._answers[-1]
        handle = self._handle
        start = self._size - len(last.row)
        handle.seek(start)
        if handle.read() != last.row:
            raise InputError(f"{self.path} was changed by another program; edit the file instead")
        with disk_errors(self.path):
            handle.truncate(start)
            os.fsync(handle.fileno())
        self._size = start
        self._answers.pop()
        del self._labels[last.pair]
        return last

    def label_of(self, pair: Pair) -> str | None:
        """The label of a pair in the file; None if it has none."""
        return self._labels.get(pair)

    @property
    def answered(self) -> list[tuple[Pair, str]]:
        """Pairs with the answers to them, also of earlier sessions: the rows that have a time."""
        return [*self._earlier, *((answer.pair, answer.label) for answer in self._answers)]

    @property
    def labels(self) -> list[str]:
        """All labels in the file, in the order of first appearance."""
        return list(dict.fromkeys(self._labels.values()))

    @property
    def examples(self) -> Examples:
        """The file's pairs as examples of the relation that is taught."""
        positives = tuple(pair for pair, label in self._labels.items() if label == self.label)
        negatives = tuple(pair for pair, label in self._labels.items() if label != self.label)
        return Examples(self.label, positives, negatives, str(self.path), self._with_other_labels)

    # Reading ----------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        """Lock the file and read it."""
        self._open()
        table = read_table(read_text_file(self.path))
        mapped = mapped_columns(table, self._columns)
        where = find_pair_columns(table, mapped)
        if where.role is not None:
            raise InputError(
                f"{self.path} has roles of arguments; teaching needs the columns w1, w2 and label"
            )
        names = {plain(name): name for name in reversed(table.header) if name}
        target = mapped.get("label") or next(
            (names[name] for name in (*LABELS, *RELATIONS) if name in names), None
        )
        given = read_examples(self.path, self._wanted or _taught(table, target), self._columns)
        self.label, self._with_other_labels = given.label, given.with_other_labels
        self._w1, self._w2, self._label, self._table = where.first, where.second, target or "label", table
        self._missing = [name for name in (self._label, ANNOTATOR, TIME) if name not in table.header]
        if self._missing and not os.access(self.path.parent, os.W_OK):
            raise _not_writable(self.path, f"{self.path.parent}: permission denied")
        self._labels: dict[Pair, str] = {}
        pairs = list(zip(table.column(self._w1), table.column(self._w2), strict=True))
        labels = [self.label] * len(pairs) if target is None else table.column(target)
        times = table.column(TIME) if TIME in table.header else [""] * len(pairs)
        self._earlier = [
            (pair, label) for pair, label, time in zip(pairs, labels, times, strict=True) if time
        ]
        for pair, label in zip(pairs, labels, strict=True):
            if self._labels.get(pair) != self.label:  # as in `make_examples`
                self._labels[pair] = label

    def _end_last_line(self) -> None:
        handle = self._handle
        handle.seek(-1, os.SEEK_END)
        if handle.read(1) != b"\n":
            with disk_errors(self.path):
                handle.write(b"\n")
                handle.flush()
            self._size += 1

    def _widen(self) -> None:
        """Rewrite the file with the columns that it lacks; pairs without a label are examples of the relation."""
        table, columns = self._table, self._missing
        added = [self.label if name == self._label else "" for name in columns]
        with open(self.path, encoding="utf-8-sig", newline="") as file:
            lines = list(file)
        marked = self.path.read_bytes()[:3] == b"\xef\xbb\xbf"
        rows: list[list[str]] = []
        first = 0
        while not lines[first].strip() or SEPARATOR_LINE.fullmatch(lines[first].strip(" \r\n")):
            first += 1
        before = "".join(lines[:first])
        lines = lines[first:]
        reader = (
            (line.rstrip("\r\n").split("\t") for line in lines)
            if table.separator == "\t"
            else csv.reader(lines, delimiter=table.separator)
        )
        width = len(table.header)
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            # Columns without a name, such as notes, stay behind the others.
            cells += [""] * (width - len(cells))
            rows.append([*cells[:width], *(added if rows else columns), *cells[width:]])
        data = (before + table_text(rows, table.separator)).encode("utf-8-sig" if marked else "utf-8")
        with replacing(self.path) as out:
            out.write(data)

    def _open(self) -> None:
        """Open and lock the file."""
        try:
            self._handle = handle = open(self.path, "r+b", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise _not_writable(self.path, str(error.strerror)) from None
        if not lock(handle):
            raise UsageError(
                f"another bagpack teach writes to {self.path}; stop it, or give each annotator a file of their own"
            )
        self._size = handle.seek(0, os.SEEK_END)


def _not_writable(path: Path, why: str) -> InputError:
    return InputError(
        f"{path} cannot be written ({why}), and answers are kept there; make it writable, or teach a copy of it"
    )


def clean_label(text: str, what: str) -> str:
    """A label without blanks around it, or an error."""
    text = " ".join(text.split())
    if not text or len(text) > LONGEST_LABEL or not text.isprintable():
        raise InputError(
            f"{what} {text[:30]!r} cannot be written; give 1 to {LONGEST_LABEL} printable characters"
        )
    return text


def _taught(table: Table, target: str | None) -> str | None:
    """The label of the examples that are not answers, if they have one: answers may have other labels too."""
    if target is None or TIME not in table.header:
        return None
    given = zip(table.column(target), table.column(TIME), strict=True)
    names = {label for label, time in given if not time and label.lower() not in NO_LABELS}
    return names.pop() if len(names) == 1 else None


def _check_kind(path: Path) -> None:
    if path.is_dir() or not path.exists():
        raise InputError(
            f"{path} is not a file; teaching begins with a table of a few examples (w1, w2, label)"
        )
    if not path.is_file():
        raise InputError(
            f"{path} is not a regular file, and answers are appended to it; name a TSV or CSV file"
        )
    head = path.read_bytes()[:4]
    if read_text_file(path).sheet is not None or path.suffix.lower() in SUFFIXES:
        raise InputError(f"{path} cannot be appended to; save it as TSV or CSV")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or head.count(0):
        raise InputError(f"{path} is UTF-16; save it as UTF-8 (in Excel: Save As, CSV UTF-8)")
