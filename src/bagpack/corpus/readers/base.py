"""What is read: a `Source` is one file, a `Slice` the part of it that one worker reads by itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

COMPRESSIONS = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zst"}
EXPANSION = 4  # text grows about fourfold when it is uncompressed


@dataclass(frozen=True)
class Source:
    """One input file."""

    path: str
    size: int
    modified: int
    compression: str
    format: str = ""
    label: str = ""  # its name where the path must not or cannot be shown
    encoding: str = "utf-8"

    @property
    def name(self) -> str:
        """What documents and messages call it."""
        return self.label or self.path

    @property
    def stem(self) -> str:
        """The file name in lower case, without a compression suffix, for recognising formats."""
        name = Path(self.path).name.lower()
        for suffix in COMPRESSIONS:
            name = name.removesuffix(suffix)
        return name


@dataclass(frozen=True)
class Slice:
    """Bytes (or row groups) start..end of one source; end -1 is the source's end."""

    source: Source
    start: int = 0
    end: int = -1
    document: str | None = None  # the document that is open at `start`
    first_line: int = 0  # lines before `start`, where the reader names documents by line
