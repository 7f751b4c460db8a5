"""tantivy: a search engine inside this process, its index a directory. `tantivy:DIRECTORY`.

tantivy stores the words of each sentence, and where the sentence is in a plain file next to its segments, with a line
`document<TAB>sentence` each: an answer has a thousand of them, and tantivy's own document store takes ten times as long
to return them.
"""

from __future__ import annotations

import itertools
import mmap
import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bagpack.artefacts import Kind, check_place, new_artefact, open_artefact
from bagpack.corpus.format import check
from bagpack.engines.base import Engine, EngineError, Snippet
from bagpack.engines.sentences import index_word, index_words
from bagpack.errors import BagpackError, UsageError, import_extra
from bagpack.files import disk_errors, open_regular

if TYPE_CHECKING:
    from bagpack.engines.queries import Query

INDEX = Kind("engine", "search index", 3, "bagpack engine build")
WRITER_MEMORY = 256 << 20


@contextmanager
def _failures(what: str, fix: str = "build it again") -> Iterator[None]:
    """Turn what tantivy raises into an EngineError; a damaged file may make its Rust code panic.

    A panic is a BaseException of a class that tantivy does not export.
    """
    try:
        yield
    except BagpackError:
        raise
    except BaseException as error:
        if isinstance(error, ValueError | OSError) or type(error).__name__ == "PanicException":
            raise EngineError(f"{what} ({' '.join(str(error).split())[:200]}); {fix}") from None
        raise


class TantivyEngine(Engine):
    exact = True

    @property
    def directory(self) -> Path:
        return Path(self.address.path.removeprefix("//"))

    @property
    def _library(self) -> Any:
        return import_extra("tantivy", "tantivy", "tantivy", "a tantivy: engine")

    def open(self) -> None:
        """Check what the index says about itself, and open it."""
        library, directory = self._library, self.directory
        stored = open_artefact(directory, INDEX)
        # tantivy does not check what it reads: a changed byte changes answers, or its Rust code panics.
        check(stored.data, stored.manifest["checksums"], {}, "build it again", lambda *_: stored.damages())
        with _failures(f"{directory} cannot be opened"):
            with open_regular(stored.file("sentences")) as file:
                self._lines = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            index = library.Index.open(str(stored.data))
            self._schema = index.schema
            self._searcher = index.searcher()

    def search(self, query: Query, limit: int) -> list[Snippet]:
        """The first sentences, in the order in which they were indexed; nothing is sent anywhere."""
        with _failures(f"{self.directory} could not answer {str(query)!r}"):
            order = self._library.Order.Asc
            found = self._searcher.search(
                self._query(query), limit=limit, count=False, order_by_field="place", order=order
            )
            return [self._read(place) for place, _ in found.hits]

    def _read(self, start: int) -> Snippet:
        end = self._lines.find(b"\n", start)
        if start < 0 or end < 0:
            raise ValueError("it has a place outside the file of sentences")
        document, _, text = self._lines[start:end].decode().partition("\t")
        return Snippet(document, text)

    def _query(self, query: Query) -> Any:
        """Any of the forms, or of two with exact distances between their tokens: tantivy's slop has no order."""
        make, occur = self._library.Query, self._library.Occur
        hole = [None] * query.gap
        runs: Iterable[list[str | None]] = map(list, query.forms1)
        if query.kind == "pair":
            products = itertools.product(query.forms1, query.forms2)
            runs = ([*first, *hole, *second] for first, second in products)
        parts = []
        for run in runs:
            phrase = [(at, index_word(token)) for at, token in enumerate(run) if token is not None]
            if len(phrase) > 1:
                parts.append(make.phrase_query(self._schema, "words", phrase))
            else:
                parts.append(make.term_query(self._schema, "words", phrase[0][1], index_option="basic"))
        return parts[0] if len(parts) == 1 else make.boolean_query([(occur.Should, part) for part in parts])

    def most_requests(self, query: Query, limit: int) -> int:
        """None: the index is a directory."""
        return 0

    def fill(self, sentences: Iterable[tuple[str, str]], overwrite: bool) -> None:
        """Write the index next to its place, and exchange it with what is there."""
        if not self.directory.name:
            raise UsageError(f"{self.address} does not name a directory of its own; write tantivy:my-index")
        check_place(self.directory, INDEX, overwrite=overwrite, option="name for the index")
        with new_artefact(self.directory, INDEX, overwrite=overwrite) as draft:
            count = self._write(draft.directory, sentences)
            draft.manifest = {"engine": "tantivy", "build": uuid.uuid4().hex, "sentences": count}

    def _write(self, work: Path, sentences: Iterable[tuple[str, str]]) -> int:
        """Write the words into tantivy's files and the sentences into ours; returns how many there are."""
        library = self._library
        schema = library.SchemaBuilder()
        schema.add_text_field("words", stored=False, tokenizer_name="whitespace", index_option="position")
        schema.add_integer_field("place", stored=False, indexed=False, fast=True)
        count = place = 0
        failures = _failures(f"{work} could not be written", "free some space there, or choose another place")
        with failures, disk_errors(work), open(work / "sentences", "wb") as lines:
            # One thread keeps the sentences in order inside the segments, so that "the first N" is found quickly.
            writer = library.Index(schema.build(), str(work)).writer(WRITER_MEMORY, 1)
            for document, marked in sentences:
                count += 1
                writer.add_document(library.Document(words=" ".join(index_words(marked)), place=place))
                place += lines.write(f"{' '.join(document.split())}\t{marked}\n".encode())
            lines.flush()
            os.fsync(lines.fileno())
            writer.commit()
            writer.wait_merging_threads()
        return count
