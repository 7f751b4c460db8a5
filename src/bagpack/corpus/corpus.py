"""A corpus store opened for reading."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bagpack.artefacts import MANIFEST, SEGMENTS, damaged_files
from bagpack.corpus import format
from bagpack.corpus.format import FACTS, NUMBERS, LeftOut, read_manifest
from bagpack.corpus.options import TextOptions
from bagpack.corpus.segment import Lexicon, Segment
from bagpack.corpus.text.casefold import folding
from bagpack.corpus.where import number_of
from bagpack.errors import StoreError
from bagpack.files import RESTORE

if TYPE_CHECKING:
    from bagpack.arrays import I64, Csr
    from bagpack.basis import Basis
    from bagpack.contexts.concordance import Concordance
    from bagpack.contexts.targets import Target
    from bagpack.contexts.windows import CountSettings, Windows

OPEN_SEGMENTS = 256
WHERE = " where "  # between a store and a condition, in the name of a subcorpus
SHOWN_VALUES = 10


class Segments(Sequence[Segment]):
    """The segments of a store, of which those used last stay mapped: a system lets a process map some 65,000 files."""

    def __init__(self, directories: Sequence[Path], opened: Callable[[Path], Segment] = Segment) -> None:
        self.directories = directories
        self.opened = opened
        self._open = lru_cache(maxsize=OPEN_SEGMENTS)(opened)

    def __len__(self) -> int:
        return len(self.directories)

    def __getitem__(self, number: Any) -> Any:
        chosen = self.directories[number]
        if isinstance(chosen, Path):
            return self._open(chosen)
        part = Segments(chosen, self.opened)
        part._open = self._open
        return part

    def __reduce__(self) -> tuple[Any, ...]:
        return Segments, (self.directories, self.opened)


class Corpus:
    """An indexed corpus: token ids, postings, lexicon and documents, memory-mapped.

    >>> corpus = Corpus.open("ukwac.bp")  # doctest: +SKIP
    >>> corpus.tokens, corpus.count("lion")  # doctest: +SKIP
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path  # as it was named
        self.root = Path(os.path.abspath(path))  # from any working directory
        self.manifest = manifest
        self.options = TextOptions.from_dict(manifest["options"])
        # Those of a subcorpus are its own.
        self.name, self.absolute_name = str(self.path), str(self.root)
        self.tokens: int = manifest["tokens"]
        self.documents: int = manifest["documents"]
        self.segment_tokens: list[int] = [entry["tokens"] for entry in manifest["segments"]]
        self.segments = Segments([self.root / SEGMENTS / entry["name"] for entry in manifest["segments"]])

    @classmethod
    def open(cls, path: str | Path) -> Corpus:
        """Open a store that `bagpack index` made.

        A corpus that is open stays what it was while another process appends to the store.
        """
        while True:
            corpus = cls(Path(path), read_manifest(Path(path)))
            try:
                _ = corpus.lexicon
                for directory in corpus.segments.directories:
                    if directory.is_symlink() or not (directory / FACTS).exists():
                        raise StoreError(f"the segment {directory} is missing; {RESTORE}")
            except StoreError:
                if read_manifest(corpus.path)["content_hash"] == corpus.content_hash:
                    raise
                continue  # an append was finished in between, and removed what the manifest named
            return corpus

    @cached_property
    def sentences(self) -> int:
        return int(self.manifest["sentences"])

    @cached_property
    def types(self) -> int:
        """Distinct keys (lemmas, or forms with --level form)."""
        return int(self.manifest["types"])

    @cached_property
    def tags(self) -> dict[str, int]:
        """Tokens of each universal part of speech, most frequent first; empty if the corpus has no tags."""
        total: Counter[str] = Counter()
        for entry in self.manifest["segments"]:
            total.update(entry.get("tags", {}))
        return most_frequent(total)

    @cached_property
    def content_hash(self) -> str:
        """Changes when the text or the settings do; artefacts made from the store remember it."""
        return str(self.manifest["content_hash"])

    @cached_property
    def attribute_names(self) -> list[str]:
        return sorted({name for segment in self.segments for name in segment.facts.get("attributes", ())})

    @cached_property
    def attributes(self) -> dict[str, Counter[str]]:
        """The attributes of documents, and how many documents have each value."""
        found: dict[str, Counter[str]] = {}
        for segment in self.segments:
            for name in segment.attributes.names:
                own = segment.attributes.counts(name, segment.own_documents)
                found.setdefault(name, Counter()).update(own)
        return {name: counts for name, counts in sorted(found.items()) if counts}

    @cached_property
    def lexicon(self) -> Lexicon:
        return Lexicon(self.root / self.manifest["lexicon"]["directory"], self.tokens, self.types)

    def keys_of(self, words: Iterable[str]) -> list[str | None]:
        """The key of each word: itself, or the most frequent key of its form; None if unknown."""
        found = self.lexicon.find(map(folding(self.options), words)).tolist()
        return [self.lexicon.keys[index] if index >= 0 else None for index in found]

    def count(self, word: str) -> int:
        found = self.lexicon.find([folding(self.options)(word)])
        return int(self.lexicon.counts_of(found)[0]) if found[0] >= 0 else 0

    # What makes it a `contexts.targets.ContextSource`; the package that counts is imported once it is needed.

    @property
    def for_words(self) -> Corpus:
        return self

    for_pairs = for_basis = for_words

    def resolve(self, words: Sequence[str]) -> list[Target | None]:
        """The target of each word: a key, or a run of keys; None if the corpus does not have it."""
        from bagpack.contexts.targets import resolve_targets

        return resolve_targets(self, words)

    def pick_basis(self, b: int) -> Basis:
        from bagpack.basis import pick_basis

        return pick_basis(self, b)

    def count_words(
        self, targets: Sequence[Target], basis: Basis, settings: CountSettings
    ) -> tuple[Csr, I64]:
        from bagpack.contexts.count import count_words

        return count_words(self, targets, basis, settings)

    def count_pairs(
        self, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings
    ) -> tuple[Csr, I64]:
        from bagpack.contexts.count import count_pairs

        return count_pairs(self, pairs, basis, settings)

    def contexts(
        self, w1: str, w2: str | None = None, *, limit: int | None = 5000, windows: Windows | None = None
    ) -> Concordance:
        """Every context of a word, or of a pair, as written: ``corpus.contexts("cat", "lion", limit=20)``."""
        from bagpack.contexts.concordance import contexts_of

        words = (w1,) if w2 is None else (w1, w2)
        return contexts_of(self, words, self.resolve(words), limit, windows)

    def where(self, condition: str) -> Corpus:
        """The documents that satisfy a condition: ``corpus.where('year >= 1900 and genre == "fiction"')``."""
        from bagpack.corpus.subcorpus import select_documents

        return select_documents(self, condition)

    def __reduce__(self) -> tuple[type[Corpus], tuple[Path, dict[str, Any]]]:
        return Corpus, (self.path, self.manifest)  # another process maps the files itself

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Corpus) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[str, str]:
        return self.absolute_name, self.content_hash

    def __deepcopy__(self, memo: dict[int, Any]) -> Corpus:
        return self  # immutable, and too large to copy whenever scikit-learn clones an estimator

    def verify(self) -> list[str]:
        """One message per damage, by checksums, by what is declared, and by the numbers of the manifest."""
        problems: list[str] = []
        for entry, segment in zip(self.manifest["segments"], self.segments, strict=True):
            problems.extend(_damages_of_segment(segment, entry))
        lexicon = self.manifest["lexicon"]
        directory = self.root / lexicon["directory"]
        numbers = {"tokens": self.tokens, "keys": self.types}
        problems.extend(_damaged(directory, format.LEXICON, lexicon["checksums"], numbers))
        for name in ("tokens", "sentences", "documents"):
            total = sum(entry[name] for entry in self.manifest["segments"])
            if (stated := self.manifest[name]) != total:
                problems.append(f"{self.path / MANIFEST} has {stated:,} {name}, its segments {total:,}")
        return problems

    @property
    def tagsets(self) -> list[str]:
        """The tagsets that the sources' parts of speech were mapped from."""
        found = dict.fromkeys(source["tagset"] for source in self.manifest["sources"] if "tagset" in source)
        return list(found) or (["UD"] if self.tags else [])

    @property
    def left_out(self) -> list[LeftOut]:
        """What was not read of the indexed directories, with the reason."""
        return [LeftOut(**entry) for entry in self.manifest.get("left_out", ())]

    def info(self) -> dict[str, Any]:
        own = [self.root / self.manifest["lexicon"]["directory"], *self.segments.directories]
        files = [self.root / MANIFEST, *(file for directory in own for file in directory.iterdir())]
        on_disk = sum(file.stat().st_size for file in files)
        sources = self.manifest["sources"]
        return {
            "kind": "corpus",
            "path": str(self.path),
            "tokens": self.tokens,
            "sentences": self.sentences,
            "documents": self.documents,
            "types": self.types,
            "segments": len(self.manifest["segments"]),
            "bytes": on_disk,
            "bytes_per_token": round(on_disk / max(self.tokens, 1), 3),
            **({"parts_of_speech": self.tags, "tagsets": self.tagsets} if self.tags else {}),
            **({"attributes": self._describe_attributes()} if self.attributes else {}),
            "format_version": self.manifest["format_version"],
            "content_hash": self.content_hash,
            "options": self.manifest["options"],
            "sources": [{k: v for k, v in source.items() if k != "modified"} for source in sources],
            "problems": self.manifest["problems"],
            "left_out": [file._asdict() for file in self.left_out],
            "appended": self.manifest.get("appended", []),
        }

    def _describe_attributes(self) -> dict[str, Any]:
        """Of each attribute how many documents and values it has, the most frequent ones, and the range of numbers."""
        described: dict[str, Any] = {}
        for name, counts in self.attributes.items():
            described[name] = {"documents": counts.total(), "values": len(counts)}
            numbers = [number for value in counts if (number := number_of(value)) is not None]
            if len(numbers) == len(counts):
                low, high = (int(n) if n.is_integer() else n for n in (min(numbers), max(numbers)))
                described[name] |= {"from": low, "to": high}
            described[name]["most_frequent"] = dict(list(most_frequent(counts).items())[:SHOWN_VALUES])
        return described

    def __repr__(self) -> str:
        return f"Corpus({self.name!r}, tokens={self.tokens:,}, documents={self.documents:,})"


def most_frequent(counts: Mapping[str, int]) -> dict[str, int]:
    """Positive counts by falling number."""
    found = ((name, count) for name, count in counts.items() if count)
    return dict(sorted(found, key=lambda item: (-item[1], item[0])))


def divide_name(name: str | Path) -> tuple[Path, str | None]:
    """The path of a store and the condition, if the name has one. A path may have the word, too."""
    text = str(name)
    if Path(text).exists():
        return Path(text), None
    places = [found.start() for found in re.finditer(WHERE, text)]
    if not places:
        return Path(text), None
    place = next((place for place in places if Path(text[:place]).exists()), places[0])
    return Path(text[:place]), text[place + len(WHERE) :]


def _damaged(
    directory: Path, declared: Mapping[str, format.Array], checksums: Any, numbers: Any
) -> list[str]:
    """Damage of the files of a segment or lexicon; a declared file without a checksum is one."""
    found = damaged_files(directory, {**dict.fromkeys(declared, ""), **checksums})
    return found or list(format.damages(directory, declared, numbers))


def _damages_of_segment(segment: Segment, entry: dict[str, Any]) -> list[str]:
    path = segment.directory / FACTS
    if problems := damaged_files(segment.directory, {FACTS: entry["digest"]}):
        return problems
    try:
        facts = segment.facts
    except StoreError as error:
        return [str(error)]
    other = [name for name in NUMBERS if facts[name] != entry[name]]
    differing = [f"{path} has {facts[name]:,} {name}, but {MANIFEST} says {entry[name]:,}" for name in other]
    return differing + _damaged(segment.directory, segment.declared, facts["checksums"], segment.numbers)
