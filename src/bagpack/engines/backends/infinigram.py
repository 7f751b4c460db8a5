"""infini-gram: n-gram search in a suffix array, its index a directory. `infinigram:DIRECTORY`.

An index that `bagpack engine build` makes holds our tokens, case-folded, one document per sentence; its files are
those of infini-gram 2 (`tokenized.0`, `offset.0`, `table.0`, made by its own indexer), with the vocabulary and the
sentences next to them. A word is two tokens of 16 bits, the first below `HALF`, the second not below it, so that a
match always begins with a word: infini-gram's indexer takes 34 GB for tokens of 32 bits, and 16 bits are too few.

`find` gives the part of the suffix array that begins with a form; the positions in it, of both words, give every gap
and order exactly. infini-gram's own `find_cnf` is not used for that: around a match it looks at the first occurrence
of the other word within `max_diff_tokens` only, and drops the match if that one is in another document, so that in
documents as short as sentences it misses about half of them.
"""

from __future__ import annotations

import math
import os
import subprocess
from array import array
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bagpack.engines.backends.directory import DirectoryBuild, directory_of, read_facts
from bagpack.engines.backends.sentences import SentenceFiles, SentenceWriter
from bagpack.engines.base import DIRECT, Address, Count, EngineError, EngineKind, Sender, Snippet
from bagpack.engines.words import index_word, index_words
from bagpack.errors import StoreError, import_extra
from bagpack.files import disk_errors, map_array, write_array, write_bytes

if TYPE_CHECKING:
    from bagpack.engines.queries import Form, Query

I64 = NDArray[np.int64]
FORMAT_VERSION = 1
HACK = 100_000  # bytes by which the indexer lets its parts overlap
TOKEN = 2  # bytes of a token
WIDTH = 2 * TOKEN  # bytes of a word
HALF = 32_767  # words = HALF * HALF at most
SEPARATOR = b"\xff" * TOKEN  # opens every document
MEMORY = 4 << 30  # bytes of text that the indexer sorts at a time, times 8
_library = partial(import_extra, "infini_gram.engine", "infini-gram", "infinigram", "an infinigram: engine")


def _tokens(words: list[int]) -> NDArray[np.uint16]:
    """Two tokens for each word."""
    halves = np.divmod(np.array(words, np.int64), HALF)
    return np.stack([halves[0], halves[1] + HALF], axis=1).ravel().astype("<u2")


class InfiniGramEngine:
    """An open index that BagPack made."""

    name = "infinigram"
    exact = True

    def __init__(self, address: Address) -> None:
        library = _library()
        facts = read_facts(address, FORMAT_VERSION)
        directory = directory_of(address)
        self.identity = f"infinigram:{facts['build']}"
        self._texts = SentenceFiles(directory)
        size = (directory / "tokenized.0").stat().st_size
        self._size = (size - len(SEPARATOR) * int(facts["sentences"])) // WIDTH
        self._offsets = map_array(directory / "offset.0", "<u8")
        self._table = map_array(directory / "table.0", "|u1").reshape(-1, int(facts["pointer_bytes"]))
        words = (directory / "vocabulary").read_bytes().decode().split("\n")
        self._ids = {word: number for number, word in enumerate(words)}
        try:
            self._engine = library.InfiniGramEngine(
                index_dir=str(directory), eos_token_id=2**16 - 2, vocab_size=2**16 - 1, token_dtype="u16"
            )
        except (RuntimeError, AssertionError, TypeError) as error:
            raise EngineError(f"{directory} cannot be opened ({error}); build it again") from None

    def search(self, query: Query, limit: int, sender: Sender = DIRECT) -> list[Snippet]:
        """The first sentences, in the order in which they were indexed."""
        return sender.send(lambda: self._texts.read(self._sentences(query)[:limit].tolist()))

    def count(self, query: Query, sender: Sender = DIRECT) -> Count:
        """How often the query matches; no sentence is read."""
        return sender.send(lambda: Count(int(self._matches(query).size), False))

    def tokens(self, sender: Sender = DIRECT) -> int:
        """The size of the corpus."""
        return self._size

    def _sentences(self, query: Query) -> I64:
        """The numbers of the sentences in which a query matches, ascending, each once."""
        return np.unique(self._document(self._matches(query)))

    def _document(self, at: I64) -> I64:
        return np.searchsorted(self._offsets, at.astype(np.uint64), side="right").astype(np.int64) - 1

    def _matches(self, query: Query) -> I64:
        """The positions (in bytes) at which a query matches, ascending."""
        if query.kind == "word":
            return np.unique(np.concatenate([self._positions(form) for form in query.forms1]))
        found = []
        second = np.concatenate([self._positions(form) for form in query.forms2])
        for form in query.forms1:
            first = self._positions(form)
            ahead = first + (len(form) + query.gap) * WIDTH
            # A separator is between two documents, so tokens of one document are contiguous.
            found.append(first[np.isin(ahead, second) & (self._document(first) == self._document(ahead))])
        return np.unique(np.concatenate(found))

    def _positions(self, form: Form) -> I64:
        """Where a form begins, ascending, in bytes."""
        ids = [self._ids.get(index_word(token), -1) for token in form]
        if -1 in ids:
            return np.empty(0, np.int64)
        answer = self._engine.find(input_ids=_tokens(ids).tolist())
        if "error" in answer:
            raise EngineError(
                f"the infini-gram index could not answer {' '.join(form)!r} ({answer['error']})"
            )
        ((start, end),) = answer["segment_by_shard"]
        part = np.asarray(self._table[start:end])
        padded = np.zeros((part.shape[0], 8), np.uint8)
        padded[:, : part.shape[1]] = part
        return np.sort(padded.view("<i8").ravel())

    def close(self) -> None:
        """Close the index's files."""
        self._engine = None


class InfiniGramBuilder:
    """Writes token ids as they come, and sorts the suffixes with infini-gram's indexer at the end."""

    def __init__(self, address: Address, overwrite: bool) -> None:
        self._indexer = Path(_library().__file__).parent / "rust_indexing"
        self._build = DirectoryBuild(address, overwrite)
        self.work = self._build.work
        self._ids: dict[str, int] = {}
        self._offsets = array("Q")
        self._size = 0
        try:
            self._sentences = SentenceWriter(self.work)
            with disk_errors(self.work):
                self._tokens = open(self.work / "tokenized.0", "wb")  # noqa: SIM115 (closed by finish or abandon)
        except BaseException:
            self._build.abandon()
            raise

    def add(self, document: str, marked: str) -> None:
        """One sentence."""
        ids = self._ids
        words = [ids.setdefault(word, len(ids)) for word in index_words(marked)]
        data = SEPARATOR + _tokens(words).tobytes()
        self._sentences.add(document, marked)
        self._offsets.append(self._size)
        with disk_errors(self.work):
            self._tokens.write(data)
        self._size += len(data)

    def finish(self) -> None:
        """Sort the suffixes, and replace."""
        self._sentences.finish()
        with disk_errors(self.work):
            self._tokens.flush()
            os.fsync(self._tokens.fileno())
            self._tokens.close()
        write_array(self.work / "offset.0", np.frombuffer(self._offsets, np.uint64), "<u8")
        write_bytes(self.work / "vocabulary", "\n".join(self._ids).encode())
        pointer_bytes = max(1, math.ceil(math.log2(max(self._size, 2)) / 8))
        self._sort(pointer_bytes)
        facts = {"format_version": FORMAT_VERSION, "sentences": self._sentences.number}
        self._build.finish({**facts, "pointer_bytes": pointer_bytes, "words": len(self._ids)})

    def _sort(self, ratio: int) -> None:
        """infini-gram's three steps: sort parts, merge them, write one table."""
        data, parts, merged = self.work / "tokenized.0", self.work / "parts", self.work / "merged"
        common = ("--data-file", data, "--ratio", ratio, "--token-width", TOKEN)
        for directory in (parts, merged):
            directory.mkdir()
        jobs = max(1, math.ceil(self._size / (MEMORY // 8)))
        step = math.ceil(self._size / jobs / TOKEN) * TOKEN
        for start in range(0, self._size, step):
            end = min(start + step + HACK, self._size)
            self._index("make-part", *common, "--parts-dir", parts, "--start-byte", start, "--end-byte", end)
        threads = ("--num-threads", 1)
        self._index(
            "merge", *common, *threads, "--parts-dir", parts, "--merged-dir", merged, "--hacksize", HACK
        )
        self._index(
            "concat", *common, *threads, "--merged-dir", merged, "--merged-file", self.work / "table.0"
        )
        for directory in (parts, merged):
            for file in directory.iterdir():
                file.unlink()
            directory.rmdir()

    def _index(self, *arguments: object) -> None:
        run = subprocess.run(
            [str(self._indexer), *map(str, arguments)], capture_output=True, text=True, check=False
        )
        if run.returncode:
            detail = " ".join(run.stderr.split())[-200:]
            raise StoreError(
                f"infini-gram's indexer failed in {self.work} ({detail or run.returncode}); check the free space there "
                f"and run the command again"
            )

    def abandon(self) -> None:
        """Remove the unfinished directory."""
        self._sentences.close()
        self._tokens.close()
        self._build.abandon()


class InfiniGramKind(EngineKind):
    """`infinigram:DIRECTORY`."""

    def connect(self, address: Address, timeout: float, sender: Sender) -> InfiniGramEngine:
        """Open an index; there is nothing to wait for."""
        return InfiniGramEngine(address)

    def build(self, address: Address, overwrite: bool) -> InfiniGramBuilder:
        """Start to build an index."""
        return InfiniGramBuilder(address, overwrite)

    def native(self, query: Query, address: Address) -> str:
        """The calls of `find`."""
        parts = [
            " | ".join(f"find({' '.join(map(index_word, form))!r})" for form in forms)
            for forms in (query.forms1, query.forms2)
            if forms
        ]
        return parts[0] if query.kind == "word" else f"({parts[0]}) {query.gap} tokens before ({parts[1]})"


ENGINE = InfiniGramKind()
