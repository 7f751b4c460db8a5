"""A corpus store opened for reading."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from bagpack.artefacts import damaged_files
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.sniff import LeftOut
from bagpack.corpus.store.lexicon import Lexicon
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.text.casefold import fold, folding
from bagpack.errors import StoreError
from bagpack.files import digest, read_json, unfinished_or

if TYPE_CHECKING:
    from bagpack.contexts.concordance import Concordance

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
OPEN_SHARDS = 256
VOCABULARY = ("keys.", "types.", "forms.")  # files that grow with distinct words, not with tokens


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a store, checked for kind and version."""
    if not path.exists():
        raise StoreError(f"there is no store at {path}; {unfinished_or(path, 'make one with bagpack index')}")
    if not (path / MANIFEST).exists():
        raise StoreError(f"{path} is not a BagPack store (it has no {MANIFEST}); make one with bagpack index")
    manifest: dict[str, Any] = read_json(path / MANIFEST)
    kind = manifest.get("kind", "artefact") if isinstance(manifest, dict) else "artefact"
    if kind != "corpus":
        raise StoreError(f"{path} is a BagPack {kind}, not a corpus; name a corpus")
    version = manifest.get("format_version")
    if version != FORMAT_VERSION:
        newer = isinstance(version, int) and version > FORMAT_VERSION
        raise StoreError(
            f"{path} has format version {version}, this BagPack reads {FORMAT_VERSION}; "
            + ("update BagPack (pip install --upgrade bagpack)" if newer else "index the corpus again")
        )
    if manifest_seal(manifest) != manifest.get("seal"):
        raise StoreError(
            f"{path / MANIFEST} does not match its own seal; restore it from a copy, or index the corpus again"
        )
    return manifest


class Shards(Sequence[Shard]):
    """The shards of a store, of which those used last stay mapped: a system lets a process map some 65,000 files."""

    def __init__(self, directories: Sequence[Path]) -> None:
        self.directories = directories
        self._open = lru_cache(maxsize=OPEN_SHARDS)(Shard)

    def __len__(self) -> int:
        return len(self.directories)

    @overload
    def __getitem__(self, number: int) -> Shard: ...
    @overload
    def __getitem__(self, number: slice) -> Shards: ...
    def __getitem__(self, number: int | slice) -> Shard | Shards:
        chosen = self.directories[number]
        return self._open(chosen) if isinstance(chosen, Path) else Shards(chosen)

    def __reduce__(self) -> tuple[type[Shards], tuple[Sequence[Path]]]:
        return Shards, (self.directories,)


class Corpus:
    """An indexed corpus: token ids, postings, lexicon and documents, memory-mapped.

    Examples
    --------
    >>> corpus = Corpus.open("ukwac.bp")  # doctest: +SKIP
    >>> corpus.tokens, corpus.count("lion")  # doctest: +SKIP
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest
        self.options = TextOptions.from_dict(manifest["options"])

    @classmethod
    def open(cls, path: str | Path) -> Corpus:
        """Open a store that `bagpack index` made."""
        corpus = cls(Path(path), read_manifest(Path(path)))
        for directory in corpus.shards.directories:
            if not (directory / "shard.json").exists():
                raise StoreError(
                    f"the shard {directory} is missing; restore it from a copy, or index the corpus again"
                )
        return corpus

    @property
    def tokens(self) -> int:
        """Tokens in all shards."""
        return int(self.manifest["tokens"])

    @property
    def sentences(self) -> int:
        """Sentences in all shards."""
        return int(self.manifest["sentences"])

    @property
    def documents(self) -> int:
        """Documents in all shards."""
        return int(self.manifest["documents"])

    @property
    def types(self) -> int:
        """Distinct keys (lemmas, or forms with --level form)."""
        return int(self.manifest["types"])

    @property
    def content_hash(self) -> str:
        """Changes when the text or the settings do; artefacts made from the store remember it."""
        return str(self.manifest["content_hash"])

    @cached_property
    def shards(self) -> Shards:
        """The shards in corpus order."""
        return Shards([self.path / "shards" / shard["name"] for shard in self.manifest["shards"]])

    @cached_property
    def lexicon(self) -> Lexicon:
        """Keys with counts, and forms."""
        return Lexicon(self.path / self.manifest["lexicon"]["directory"])

    def resolve(self, words: Iterable[str]) -> list[str | None]:
        """The key that stands for each word: itself as a key, or its form's most frequent key; None if unknown."""
        found = self.lexicon.find(map(folding(self.options), words)).tolist()
        return [self.lexicon.keys[index] if index >= 0 else None for index in found]

    def count(self, word: str) -> int:
        """How many tokens the word's key has."""
        index = int(self.lexicon.find([fold(word, self.options)])[0])
        return int(self.lexicon.counts[index]) if index >= 0 else 0

    def contexts(self, w1: str, w2: str | None = None, **options: Any) -> Concordance:
        """Every place where a word stands, or where two words meet; see `find_contexts` for the options."""
        from bagpack.contexts.concordance import find_contexts

        return find_contexts(self, w1, w2, **options)

    def __deepcopy__(self, memo: dict[int, Any]) -> Corpus:
        return self  # immutable, and too large to copy whenever scikit-learn clones an estimator

    def verify(self) -> list[str]:
        """Sentences about whatever is damaged; an empty list if the store is whole."""
        problems: list[str] = []
        for entry, shard in zip(self.manifest["shards"], self.shards, strict=True):
            facts_file = shard.directory / "shard.json"
            if not facts_file.exists():
                problems.append(f"{facts_file} is missing")
                continue
            if digest(facts_file.read_bytes()) != entry["digest"]:
                problems.append(f"{facts_file} does not match its checksum")
                continue
            problems.extend(damaged_files(shard.directory, shard.facts["checksums"]))
        lexicon = self.manifest["lexicon"]
        problems.extend(damaged_files(self.path / lexicon["directory"], lexicon["checksums"]))
        return problems

    @property
    def left_out(self) -> list[LeftOut]:
        """Files of the indexed directories that hold no text; stores of the first BagPacks do not say."""
        return [LeftOut(**entry) for entry in self.manifest.get("left_out", ())]

    def info(self) -> dict[str, Any]:
        """What `bagpack info` shows."""
        sizes = [(file.name, file.stat().st_size) for file in self.path.rglob("*") if file.is_file()]
        on_disk = sum(size for _, size in sizes)
        vocabulary = sum(size for name, size in sizes if name.startswith(VOCABULARY))
        tokens = max(self.tokens, 1)
        return {
            "kind": "corpus",
            "path": str(self.path),
            "tokens": self.tokens,
            "sentences": self.sentences,
            "documents": self.documents,
            "types": self.types,
            "shards": len(self.manifest["shards"]),
            "bytes": on_disk,
            "bytes_per_token": round(on_disk / tokens, 3),
            "bytes_per_token_without_vocabulary": round((on_disk - vocabulary) / tokens, 3),
            "format_version": self.manifest["format_version"],
            "content_hash": self.content_hash,
            "options": self.manifest["options"],
            "sources": self.manifest["sources"],
            "told": self.manifest["told"],
            "left_out": [file._asdict() for file in self.left_out],
        }

    def __repr__(self) -> str:
        return f"Corpus({str(self.path)!r}, tokens={self.tokens:,}, documents={self.documents:,})"


def manifest_seal(manifest: dict[str, Any]) -> str:
    """Checksum over the manifest's other entries, so that a flipped byte in it shows."""
    rest = {name: value for name, value in manifest.items() if name != "seal"}
    return digest(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode())
