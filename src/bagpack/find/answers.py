"""Answers of an annotator, in a table of their own next to the examples: `parts.tsv` gets `parts.answers.tsv`.

An answer is one line (w1, w2, label, annotator, time), on the disk before the next question is asked. Lines are only
appended, so that several people can answer at once; undo removes the last line if none was added since. The
file of examples is never written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

from bagpack.errors import InputError
from bagpack.files import disk_errors
from bagpack.find.examples import NO, Examples, Pair, read_examples
from bagpack.tasks.pairs import read_dataset

COLUMNS = ("w1", "w2", "label", "annotator", "time")
ENDING = ".answers.tsv"
LONGEST_NAME = 100


def answers_path(examples: str | Path) -> Path:
    """Where the answers about a file of examples are; a file of answers is continued itself."""
    path = Path(os.path.realpath(examples))
    return path if path.name.endswith(ENDING) else path.with_name(path.stem + ENDING)


def with_answers(examples: Examples, given: Mapping[Pair, str]) -> Examples:
    """Examples together with the answers about them; an answer counts more than an example of the same pair."""
    positives = dict.fromkeys(pair for pair in examples.positives if pair not in given)
    negatives = dict.fromkeys(pair for pair in examples.negatives if pair not in given)
    for pair, label in given.items():
        (positives if label == examples.label else negatives)[pair] = None
    return replace(examples, positives=tuple(positives), negatives=tuple(negatives))


def read_answers(path: Path) -> dict[Pair, str]:
    """The label of each answered pair; the last answer counts. No file is no answer."""
    if not path.exists() or not path.stat().st_size:
        return {}
    data = read_dataset(path, "relations")
    return dict(zip(data.pairs, data.labels, strict=True))


class Answers:
    """The examples of a relation, and the answers about them; ``annotator`` is written with each answer."""

    def __init__(
        self, examples: str | Path, label: str | None = None, annotator: str = "",
        columns: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.annotator = " ".join("".join(filter(str.isprintable, annotator)).split())[:LONGEST_NAME]
        self.examples = read_examples(examples, label, columns)
        self.path = answers_path(examples)
        self.given = read_answers(self.path) if self.path != Path(os.path.realpath(examples)) else {}
        # The answers of this session: pair, line, and the label that the pair had before.
        self._lines: list[tuple[Pair, bytes, str | None]] = []
        if not os.access(self.path if self.path.exists() else self.path.parent, os.W_OK):
            raise InputError(
                f"{self.path} cannot be written, and answers are kept there; make it writable, or teach a copy of the "
                f"examples elsewhere"
            )

    @property
    def answered(self) -> list[tuple[Pair, bool]]:
        """The answered pairs and whether they are in the relation, the oldest first."""
        return [(pair, label == self.examples.label) for pair, label in self.given.items()]

    def add(self, pair: Pair, right: bool) -> None:
        """Append an answer; when this returns, it is on the disk."""
        time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        label = self.examples.label if right else NO
        line = "\t".join([*pair, label, self.annotator, time]).encode() + b"\n"
        with self._opened() as handle:
            end = handle.seek(0, os.SEEK_END)
            if not end:
                line = "\t".join(COLUMNS).encode() + b"\n" + line
            else:
                handle.seek(end - 1)
                if handle.read(1) != b"\n":
                    line = b"\n" + line
            try:
                left = memoryview(line)
                while left:
                    left = left[handle.write(left) :]  # a full disk takes a part, then nothing
                os.fsync(handle.fileno())
            except OSError:
                handle.truncate(end)  # half a line is of no use
                raise
        self._lines.append((pair, line, self.given.pop(pair, None)))
        self.given[pair] = label

    def undo(self) -> Pair:
        """Take back the last answer of this session, and return its pair."""
        if not self._lines:
            raise InputError(
                f"there is no answer of this session to undo; edit {self.path.name} for older ones"
            )
        pair, line, before = self._lines[-1]
        with self._opened() as handle:
            start = handle.seek(0, os.SEEK_END) - len(line)
            handle.seek(max(start, 0))
            if handle.read() != line:
                raise InputError(f"{self.path.name} was changed since; edit the file instead")
            handle.truncate(start)
            os.fsync(handle.fileno())
        self._lines.pop()
        del self.given[pair]
        if before is not None:
            self.given[pair] = before
        return pair

    @contextmanager
    def _opened(self) -> Iterator[FileIO]:
        """The file of answers, to read its end and to append; errors of the disk are sentences."""
        with disk_errors(self.path), open(self.path, "a+b", buffering=0) as handle:
            yield handle
