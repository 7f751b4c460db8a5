"""tantivy: a search engine inside this process, its index a directory. `tantivy:DIRECTORY`.

tantivy stores the words and each sentence's number. The sentences themselves are in two plain files next to its
segments: an answer has a thousand of them, and tantivy's own document store takes ten times as long to return them.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any

from bagpack.engines.backends.directory import DirectoryBuild, directory_of, read_facts
from bagpack.engines.backends.sentences import SentenceFiles, SentenceWriter
from bagpack.engines.base import DIRECT, Address, EngineError, EngineKind, Sender, Snippet
from bagpack.engines.words import index_word, index_words
from bagpack.errors import StoreError, import_extra

if TYPE_CHECKING:
    from bagpack.engines.queries import Form, Query

FORMAT_VERSION = 1
WRITER_MEMORY = 256 << 20
_library = partial(import_extra, "tantivy", "tantivy", "tantivy", "a tantivy: engine")


def _schema(tantivy: Any) -> Any:
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("words", stored=False, tokenizer_name="whitespace", index_option="position")
    schema.add_integer_field("number", stored=False, indexed=False, fast=True)
    return schema.build()


def phrases(query: Query) -> list[list[tuple[int, str]]]:
    """The alternatives of a query, each as (offset, token): exact distances, not tantivy's unordered slop."""

    def shifted(form: Form, by: int) -> list[tuple[int, str]]:
        return [(by + offset, index_word(token)) for offset, token in enumerate(form)]

    if query.kind == "word":
        return [shifted(form, 0) for form in query.forms1]
    return [
        shifted(first, 0) + shifted(second, len(first) + query.gap)
        for first, second in itertools.product(query.forms1, query.forms2)
    ]


class TantivyEngine:
    """An open tantivy index."""

    name = "tantivy"
    exact = True

    def __init__(self, address: Address) -> None:
        self._tantivy = _library()
        facts = read_facts(address, FORMAT_VERSION)
        directory = directory_of(address)
        self.identity = f"tantivy:{facts['build']}"
        self._texts = SentenceFiles(directory)
        try:
            index = self._tantivy.Index.open(str(directory))
            self._schema = index.schema
            self._searcher = index.searcher()
        except (ValueError, OSError) as error:
            raise EngineError(
                f"{directory} cannot be opened ({address.scrub(error)}); build it again"
            ) from None

    def search(self, query: Query, limit: int, sender: Sender = DIRECT) -> list[Snippet]:
        """The first sentences, in the order in which they were indexed."""
        return sender.send(lambda: self._search(query, limit))

    def _search(self, query: Query, limit: int) -> list[Snippet]:
        try:
            found = self._searcher.search(
                self._query(query),
                limit=limit,
                count=False,
                order_by_field="number",
                order=self._tantivy.Order.Asc,
            )
        except ValueError as error:
            raise EngineError(
                f"the tantivy index could not answer {str(query)!r} ({error}); build it again"
            ) from None
        return self._texts.read([number for number, _ in found.hits])

    def _query(self, query: Query) -> Any:
        make, occur = self._tantivy.Query, self._tantivy.Occur
        parts = []
        for phrase in phrases(query):
            if len(phrase) == 1:
                parts.append(make.term_query(self._schema, "words", phrase[0][1], index_option="basic"))
            else:
                parts.append(make.phrase_query(self._schema, "words", phrase))
        if len(parts) == 1:
            return parts[0]
        return make.boolean_query([(occur.Should, part) for part in parts])

    def close(self) -> None:
        """Close the index's files."""
        self._searcher = None


class TantivyBuilder:
    """Writes an index."""

    def __init__(self, address: Address, overwrite: bool) -> None:
        self._tantivy = _library()
        self._build = DirectoryBuild(address, overwrite)
        self.work = self._build.work
        try:
            self._sentences = SentenceWriter(self.work)
            # One thread keeps the sentences in order inside the segments, so that "the first N" is found quickly.
            self._writer = self._guarded(
                lambda: self._tantivy.Index(_schema(self._tantivy), str(self.work)).writer(WRITER_MEMORY, 1)
            )
        except BaseException:
            self._build.abandon()
            raise

    def _guarded(self, action: Any) -> Any:
        try:
            return action()
        except (ValueError, OSError) as error:
            full = "No space left" in str(error)
            cure = "free some space there and run the command again" if full else "choose another place"
            raise StoreError(
                f"{'the disk is full: ' if full else ''}{self.work} could not be written ({error}); {cure}"
            ) from None

    def add(self, document: str, marked: str) -> None:
        """One sentence."""
        number = self._sentences.add(document, marked)
        entry = self._tantivy.Document(words=" ".join(index_words(marked)), number=number)
        self._guarded(lambda: self._writer.add_document(entry))

    def finish(self) -> None:
        """Commit, merge, replace."""
        self._sentences.finish()
        self._guarded(self._writer.commit)
        self._guarded(self._writer.wait_merging_threads)
        self._build.finish({"format_version": FORMAT_VERSION, "sentences": self._sentences.number})

    def abandon(self) -> None:
        """Remove the unfinished directory."""
        self._writer = None
        self._sentences.close()
        self._build.abandon()


class TantivyKind(EngineKind):
    """`tantivy:DIRECTORY`."""

    def connect(self, address: Address, timeout: float, sender: Sender) -> TantivyEngine:
        """Open an index; there is nothing to wait for."""
        return TantivyEngine(address)

    def build(self, address: Address, overwrite: bool) -> TantivyBuilder:
        """Start to build an index."""
        return TantivyBuilder(address, overwrite)

    def native(self, query: Query, address: Address) -> str:
        """How the query's objects are made: there is no written form of a phrase with offsets in tantivy."""
        return " OR ".join(
            f"phrase_query({phrase!r})" if len(phrase) > 1 else f"term_query({phrase[0][1]!r})"
            for phrase in phrases(query)
        )


ENGINE = TantivyKind()
