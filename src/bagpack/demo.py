"""The demo corpus: a real text inside a package's source archive, downloaded without running any code of the package.

pip is asked only where the archive is (`pip index versions`, which uses pip's own configuration: indexes, mirrors,
proxies). The archive is downloaded as a file and compared with the checksum below before it is opened. It is never
handed to `pip download` or `pip install`: both run the build code of a source archive to learn its metadata.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bagpack.errors import BagpackError
from bagpack.files import cache_directory, disk_errors

FIND_SECONDS = 120  # for pip's answer
FETCH_SECONDS = 60  # without a byte
LARGEST = 100_000_000  # bytes of an archive that are read
Say = Callable[[str], None]


@dataclass(frozen=True)
class DemoCorpus:
    """A corpus inside a package's source archive."""

    package: str
    version: str
    archive: str
    sha256: str  # of the archive
    member: str
    what: str
    licence: str

    @property
    def requirement(self) -> str:
        """As pip writes it."""
        return f"{self.package}=={self.version}"


ENWIK8 = DemoCorpus(
    package="mingru-pytorch",
    version="0.2.1",
    archive="mingru_pytorch-0.2.1.tar.gz",
    sha256="fc9b278b4e04db930a5cd4cdab36e2713b1d6e14084269b161d4f133819e758d",
    member="mingru_pytorch-0.2.1/data/enwik8.gz",
    what="enwik8, the first 100 MB of the English Wikipedia of March 2006: about ten million words of articles",
    licence="the text is by Wikipedia's authors, under the GNU Free Documentation License (and now CC BY-SA)",
)

# The same file is in other archives, for an index that lacks the first.
ARCHIVES = (
    ENWIK8,
    replace(
        ENWIK8, package="infini-transformer-pytorch", archive="infini_transformer_pytorch-0.2.1.tar.gz",
        sha256="ba31c50080255fbe6e724b399567d8c0a79b2956bf1573558e7075bdf00cc87a",
        member="infini_transformer_pytorch-0.2.1/data/enwik8.gz",
    ),
    replace(
        ENWIK8, package="native-sparse-attention-pytorch", version="0.2.3",
        archive="native_sparse_attention_pytorch-0.2.3.tar.gz",
        sha256="7b9481bb52ee565d5098868c7345285e88342248915ff8e3e62f7fe945be2da0",
        member="native_sparse_attention_pytorch-0.2.3/data/enwik8.gz",
    ),
)  # fmt: skip


def fetch_any(archives: Sequence[DemoCorpus], say: Say) -> tuple[DemoCorpus, Path]:
    """The first archive that is in the cache or can be downloaded."""
    for corpus in archives:
        if (kept := _kept(corpus)) is not None:
            return corpus, kept
    for corpus in archives[:-1]:
        try:
            return corpus, fetch(corpus, say)
        except BagpackError as error:
            say(str(error).partition(";")[0])
    return archives[-1], fetch(archives[-1], say)


def _kept(corpus: DemoCorpus) -> Path | None:
    kept = _place() / corpus.archive
    return kept if kept.exists() and _sha256(kept) == corpus.sha256 else None


def _place() -> Path:
    return cache_directory() or Path(tempfile.gettempdir()) / "bagpack"


def fetch(corpus: DemoCorpus, say: Say) -> Path:
    """The archive, from the cache or downloaded; its checksum is right."""
    if (found := _kept(corpus)) is not None:
        return found
    place = _place()
    kept = place / corpus.archive
    say(f"downloading the source archive of the package {corpus.requirement} (36 MB, once) ...")
    with disk_errors(kept):
        place.mkdir(parents=True, exist_ok=True)
        own = place / f"{corpus.archive}.{os.getpid()}.new"
    try:
        _download(_find(corpus), own)
        if _sha256(own) != corpus.sha256:
            raise BagpackError(
                f"{corpus.archive} is not the file that was expected (its checksum differs), so it was not opened; "
                f"please report it to the BagPack developers"
            )
        os.replace(own, kept)
    finally:
        own.unlink(missing_ok=True)
    return kept


def _find(corpus: DemoCorpus) -> str:
    """Ask pip where the archive is. It reads the pages of its indexes and runs nothing of the package."""
    command = [sys.executable, "-m", "pip", "index", "versions", corpus.package, "-vv", "--retries", "1"]
    command += ["--disable-pip-version-check", "--no-color"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=FIND_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _unavailable(f"pip did not answer within {FIND_SECONDS} s") from None
    if "No module named pip" in done.stderr:
        raise _unavailable("pip is not installed")
    link = re.search(rf"Found link (\S+/{re.escape(corpus.archive)})(?=[#\s])", done.stdout + done.stderr)
    if link is None:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise _unavailable(said[-1] if said else f"pip does not know {corpus.archive}")
    return link[1]


def _download(url: str, target: Path) -> None:
    try:
        with (
            urllib.request.urlopen(url, timeout=FETCH_SECONDS, context=_certificates()) as source,
            disk_errors(target),
            open(target, "wb") as out,
        ):
            left = LARGEST
            while left > 0 and (chunk := source.read(min(left, 1 << 20))):
                out.write(chunk)
                left -= len(chunk)
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise _unavailable(str(getattr(error, "reason", error))) from error


def _certificates() -> ssl.SSLContext:
    """Certificates of the system, and those that pip is configured to trust."""
    context = ssl.create_default_context()
    more = os.environ.get("PIP_CERT")
    if more and Path(more).is_file():
        context.load_verify_locations(more)
    return context


def _unavailable(reason: str) -> BagpackError:
    return BagpackError(
        f"the demo's corpus could not be fetched ({reason}); check the network and run it again, or index text of "
        f"your own: bagpack index FILES --out my.bp"
    )


def unpack(corpus: DemoCorpus, kept: Path, target: Path) -> Path:
    """The uncompressed dump out of the archive, which workers can read slice by slice."""
    if not target.exists():
        new = target.with_name(target.name + ".new")
        with disk_errors(new):
            new.parent.mkdir(parents=True, exist_ok=True)
            with tarfile.open(kept) as archive, open(new, "wb") as out:
                inside = archive.extractfile(corpus.member)
                if inside is None:
                    raise BagpackError(
                        f"{kept} has no file {corpus.member}; remove it and run the demo again"
                    )
                with gzip.open(inside, "rb") as text:
                    shutil.copyfileobj(text, out, 1 << 20)
        os.replace(new, target)
    return target


def _sha256(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
