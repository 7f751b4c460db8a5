"""A subcorpus: the documents of a store that satisfy a condition, in memory.

The vocabulary is that of the store, with its numbers, so no string is sorted or looked up again. Selected tokens are
copied, and postings and counts are made by a pass over them, when they are first asked for. Nothing is kept on disk.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.build.lexicon_writer import merge_all, new_array
from bagpack.corpus.build.shard_writer import fill_postings
from bagpack.corpus.options import TextOptions
from bagpack.corpus.store.attributes import AttributeColumns
from bagpack.corpus.store.corpus import WHERE, Corpus, Shards, divide_name
from bagpack.corpus.store.format import GLUED, SENTENCE_START, TYPE_MASK
from bagpack.corpus.store.shard import FormCounts, Shard, sum_keys
from bagpack.corpus.store.strings import Strings
from bagpack.corpus.store.where import Where
from bagpack.corpus.text.casefold import folding
from bagpack.corpus.text.tagsets import UNIVERSAL
from bagpack.errors import UsageError
from bagpack.files import digest
from bagpack.jit import kernel, read_only

I64 = NDArray[np.int64]


@kernel
def _count_types(tokens, counts):  # type: ignore[no-untyped-def]
    for i in range(tokens.size):
        counts[tokens[i] & TYPE_MASK] += 1


class ShardPart(Shard):
    """The documents of a shard that a condition selects, as a shard of their own, in memory.

    The vocabulary is that of the shard, with its numbers; types and keys may not occur. `form_keys` are the shard's.
    """

    def __init__(self, directory: Path, condition: str, options: TextOptions) -> None:
        super().__init__(directory)
        self.whole = Shard(directory)
        self.condition = condition
        self.options = options

    @cached_property
    def selected(self) -> NDArray[np.bool_]:
        """Which documents of the shard are part of it."""
        mask: NDArray[np.bool_] = Where(self.condition).documents(self.whole)
        return mask

    @cached_property
    def _documents(self) -> tuple[I64, I64]:
        """Where the selected documents start and end in the shard."""
        starts = self.whole.document_starts.astype(np.int64)
        ends = np.append(starts[1:], self.whole.facts["tokens"])[: starts.size]
        return starts[self.selected], ends[self.selected]

    @cached_property
    def facts(self) -> dict[str, Any]:
        """As in shard.json: what of it differs from the shard's."""
        starts, ends = self._documents
        whole = self.whole.facts
        continued = np.count_nonzero(self.selected[: len(self.whole.documents) - int(whole["documents"])])
        return {
            **whole,
            "tokens": int((ends - starts).sum()),
            "documents": starts.size - int(continued),
            "attributes": list(self.attributes.names),
        }

    @property
    def numbers(self) -> dict[str, int]:
        """Those of the files, which are the shard's."""
        return self.whole.numbers

    @property
    def has_tags(self) -> bool:
        """Whether its tokens have parts of speech."""
        return self.whole.has_tags

    @cached_property
    def document_starts(self) -> NDArray[np.uint32]:
        """Position of each selected document's first token."""
        starts, ends = self._documents
        first: I64 = np.cumsum(ends - starts) - (ends - starts)
        return first.astype(np.uint32)

    @cached_property
    def documents(self) -> Strings:
        """Ids of the selected documents."""
        return self.whole.documents.take(np.flatnonzero(self.selected))

    @cached_property
    def attributes(self) -> AttributeColumns:
        """Attributes of the selected documents."""
        return self.whole.attributes.take(np.flatnonzero(self.selected))

    @cached_property
    def _runs(self) -> tuple[I64, I64]:
        """Starts and ends of the selected tokens in the shard; documents that follow each other are one run."""
        starts, ends = (own[self._documents[0] < self._documents[1]] for own in self._documents)
        apart = starts[1:] != ends[:-1]
        return starts[np.append(True, apart)], ends[np.append(apart, True)]

    @cached_property
    def tokens(self) -> NDArray[np.uint32]:
        """The tokens of one selected document after the other."""
        tokens = self._gather(self.whole.tokens)
        starts, ends = self._runs
        firsts = np.cumsum(ends - starts) - (ends - starts)
        tokens[firsts] = (tokens[firsts] | SENTENCE_START) & ~GLUED  # the text before is not part of it
        return read_only(tokens)

    @cached_property
    def tags(self) -> NDArray[np.uint8]:
        """Of these tokens."""
        return read_only(self._gather(self.whole.tags))

    def _gather(self, values: NDArray[Any]) -> NDArray[Any]:
        out = new_array(self.facts["tokens"], values.dtype, Path(tempfile.gettempdir()))
        at = 0
        for low, high in zip(*(bounds.tolist() for bounds in self._runs), strict=True):
            out[at : at + high - low] = values[low:high]
            at += high - low
        return out

    @cached_property
    def type_counts(self) -> NDArray[np.uint32]:
        """Tokens of each type."""
        counts = np.zeros(len(self.forms), np.uint32)
        _count_types(self.tokens, counts)
        return counts

    @cached_property
    def posting_bounds(self) -> I64:
        """Key k's positions are postings[bounds[k]:bounds[k+1]]."""
        counts = np.bincount(self.key_of_type, weights=self.type_counts, minlength=len(self.keys))
        return read_only(np.append(0, np.cumsum(counts)).astype(np.int64))

    @cached_property
    def postings(self) -> NDArray[np.uint32]:
        """Positions of all keys, key by key, ascending."""
        postings = new_array(self.facts["tokens"], np.dtype(np.uint32), Path(tempfile.gettempdir()))
        fill_postings(self.tokens, self.key_of_type, self.posting_bounds[:-1].copy(), postings)
        return read_only(postings)

    def other_keys(self, forms: Sequence[str]) -> FormCounts:
        """How often each folded form occurs under keys that are not the form itself."""
        found = super().other_keys(forms)
        keys = list(dict.fromkeys(key for _, key in found))
        asked = np.full(len(self.keys), -1)
        asked[self.keys.find(keys)] = np.arange(len(keys))
        key_of = asked[self.key_of_type]
        fold = folding(self.options)
        counts: Counter[tuple[str, str]] = Counter()
        for number in np.flatnonzero((key_of >= 0) & (self.type_counts > 0)).tolist():
            counts[fold(self.forms[number]), keys[key_of[number]]] += int(self.type_counts[number])
        return {pair: counts[pair] for pair in found if pair in counts}


class PartLexicon:
    """The keys of a subcorpus, sorted, with counts."""

    def __init__(self, shards: Sequence[Shard], whole: Corpus) -> None:
        self._shards = shards
        self._whole = whole.lexicon
        self.keys, self.counts = merge_all(map(_counted_keys, shards), Path(tempfile.gettempdir()))

    def find(self, words: Iterable[str]) -> I64:
        """Key index of each word: as a key, failing that as a form; -1 if the subcorpus has neither."""
        listed = list(words)
        found = self.keys.find(listed)
        missing = np.flatnonzero(found < 0)
        missing = missing[self._whole.find(listed[k] for k in missing.tolist()) >= 0]
        if missing.size:
            forms = [listed[k] for k in missing.tolist()]
            sums = sum_keys(shard.other_keys(forms) for shard in self._shards)
            usual = {form: min(keys, key=lambda key: (-keys[key], key)) for form, keys in sums.items()}
            found[missing] = self.keys.find(usual.get(form, "") for form in forms)
        return found


def _counted_keys(shard: Shard) -> tuple[Strings, I64]:
    """The keys of a shard that occur, with counts."""
    counts = np.diff(shard.posting_bounds)
    keys = np.flatnonzero(counts)
    return shard.keys.take(keys), counts[keys]


class Subcorpus(Corpus):
    """The corpus of the documents that a condition selects; all numbers are those of an index of these alone."""

    def __init__(self, whole: Corpus, condition: str) -> None:
        super().__init__(whole.path, whole.manifest)
        self.whole = whole
        self.condition = condition
        opened = partial(ShardPart, condition=condition, options=whole.options)
        every = [opened(directory) for directory in whole.shards.directories]
        self._selected = [shard.selected for shard in every]
        self._documents = sum(int(shard.facts["documents"]) for shard in every)
        used = [shard for shard in every if shard.facts["tokens"]]
        self.shard_tokens = [int(shard.facts["tokens"]) for shard in used]
        self._shards = Shards([shard.directory.absolute() for shard in used], opened)

    def __reduce__(self) -> tuple[Any, ...]:
        return Subcorpus, (self.whole, self.condition)

    @property
    def shards(self) -> Shards:
        """The shards with selected tokens, in corpus order."""
        return self._shards

    @property
    def name(self) -> str:
        """The path of the store and the condition."""
        return f"{self.whole.name}{WHERE}{self.condition}"

    @property
    def absolute_name(self) -> str:
        """The same from any working directory."""
        return f"{self.whole.absolute_name}{WHERE}{self.condition}"

    @property
    def tokens(self) -> int:
        """Tokens of the selected documents."""
        return sum(self.shard_tokens)

    @property
    def documents(self) -> int:
        """Selected documents."""
        return self._documents

    @cached_property
    def sentences(self) -> int:
        """Sentences of the selected documents."""
        return sum(int(np.count_nonzero(shard.tokens & SENTENCE_START)) for shard in self.shards)

    @property
    def types(self) -> int:
        """Distinct keys of the selected documents."""
        return len(self.lexicon.keys)

    @cached_property
    def content_hash(self) -> str:
        """Depends on the store and on which documents are selected, not on how the condition is written."""
        selections = "\n".join(digest(np.packbits(selected).tobytes()) for selected in self._selected)
        identity = [self.whole.content_hash, digest(selections.encode())]
        return digest("\n".join([*identity, str(sorted(self.options.to_dict().items()))]).encode())

    @cached_property
    def tags(self) -> dict[str, int]:
        """Tokens of each universal part of speech, most frequent first; empty if the corpus has no tags."""
        tagged = [shard for shard in self.shards if shard.has_tags]
        counts = [np.bincount(shard.tags, minlength=len(UNIVERSAL)) for shard in tagged]
        total = np.sum(counts, axis=0).tolist() if tagged else []
        named = {UNIVERSAL[code]: count for code, count in enumerate(total) if count}
        return dict(sorted(named.items(), key=lambda pair: (-pair[1], pair[0])))

    @cached_property
    def lexicon(self) -> PartLexicon:  # type: ignore[override]
        """Keys with counts, and forms."""
        return PartLexicon(self.shards, self.whole)

    def verify(self) -> list[str]:
        """Of the whole store."""
        return self.whole.verify()


def select_documents(corpus: Corpus, condition: str) -> Corpus:
    """The corpus of the documents that satisfy a condition on their attributes; see `bagpack.corpus.store.where`.

    All counts are those of an index of these documents alone.
    """
    where = Where(condition)
    where.check_names(corpus.attribute_names)
    if isinstance(corpus, Subcorpus):
        return _select(corpus.whole, f"({corpus.condition}) and ({where.text})")
    return _select(corpus, where.text)


@lru_cache(maxsize=4)  # a command opens it several times
def _select(corpus: Corpus, condition: str) -> Subcorpus:
    part = Subcorpus(corpus, condition)
    if not part.shards:
        raise UsageError(
            f"no document of {corpus.name} with any text satisfies --where {condition!r}; bagpack info {corpus.name} "
            f"lists the attributes and their values"
        )
    return part


def open_corpus(name: str | Path) -> Corpus:
    """Open a store, or by a name such as `my.bp where year >= 1900` a part of it."""
    path, condition = divide_name(name)
    corpus = Corpus.open(path)
    return corpus if condition is None else select_documents(corpus, condition)
