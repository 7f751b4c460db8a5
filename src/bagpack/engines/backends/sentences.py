"""The sentences of an index that is a directory, in plain files: read by number, a thousand at a time."""

from __future__ import annotations

import os
from array import array
from contextlib import suppress
from pathlib import Path

import numpy as np

from bagpack.corpus.store.strings import Strings
from bagpack.engines.base import Snippet
from bagpack.files import disk_errors, map_array, write_array


class SentenceFiles:
    """Sentences by number: the bytes of all, where each ends, and at which sentence each document begins."""

    def __init__(self, directory: Path) -> None:
        self._bytes = map_array(directory / "sentences", "|u1").data
        self._ends = map_array(directory / "ends", "<i8")
        self._names = Strings(
            map_array(directory / "documents", "|u1"), map_array(directory / "names", "<i8")
        )
        self._first = map_array(directory / "first", "<i8")

    def read(self, numbers: list[int]) -> list[Snippet]:
        """The sentences of these numbers, looked up together: an answer has up to a thousand."""
        at = np.array(numbers, np.int64)
        documents = np.searchsorted(self._first, at, side="right") - 1
        names = {document: self._names[document] for document in set(documents.tolist())}
        places = zip(documents.tolist(), self._ends[at].tolist(), self._ends[at + 1].tolist(), strict=True)
        return [Snippet(names[document], str(self._bytes[a:b], "utf-8")) for document, a, b in places]


class SentenceWriter:
    """Writes what `SentenceFiles` reads."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.number = 0  # of sentences so far
        self._ends = array("q", [0])
        self._documents: list[str] = []
        self._first = array("q")
        with disk_errors(directory):
            self._texts = open(directory / "sentences", "wb")  # noqa: SIM115 (closed by finish or close)

    def add(self, document: str, text: str) -> int:
        """Add a sentence; returns its number."""
        data = text.encode()
        with disk_errors(self.directory):
            self._texts.write(data)
        self._ends.append(self._ends[-1] + len(data))
        if not self._documents or self._documents[-1] != document:
            self._documents.append(document)
            self._first.append(self.number)
        self.number += 1
        return self.number - 1

    def finish(self) -> None:
        """Write the rest."""
        with disk_errors(self.directory):
            self._texts.flush()
            os.fsync(self._texts.fileno())
            self._texts.close()
        names = Strings.of(self._documents)
        write_array(self.directory / "ends", np.frombuffer(self._ends, np.int64), "<i8")
        write_array(self.directory / "documents", names.blob, "|u1")
        write_array(self.directory / "names", names.offsets, "<i8")
        first = np.frombuffer(self._first, np.int64) if self._first else np.empty(0, np.int64)
        write_array(self.directory / "first", first, "<i8")

    def close(self) -> None:
        """Close the file of an unfinished index."""
        with suppress(OSError):
            self._texts.close()
