"""Search indexes that are directories: built next to their place, checksummed, replaced in one step."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bagpack.artefacts import check_replaceable, new_directory, read_sealed, recover_replaced, write_sealed
from bagpack.engines.base import Address, EngineError
from bagpack.errors import UsageError

FACTS = "bagpack-engine.json"


def directory_of(address: Address) -> Path:
    """The directory that a URL such as ``tantivy:my-index`` names."""
    path = address.path
    return Path(path[2:] if path.startswith("//") else path)


def is_index(path: Path) -> bool:
    """Whether BagPack made the index at a path."""
    return (path / FACTS).exists()


def read_facts(address: Address, version: int) -> dict[str, Any]:
    """What an index of ours says about itself."""
    directory = directory_of(address)
    recover_replaced(directory)
    if not is_index(directory):
        what = "is not a BagPack search index" if directory.exists() else "does not exist"
        raise EngineError(f"{directory} {what}; make one with bagpack engine build {address} SOURCE")
    facts = read_sealed(directory / FACTS)
    engine = facts.get("engine", "tantivy")
    if engine != address.scheme:
        raise EngineError(f"{directory} is an index of {engine}; write {engine}:{directory}")
    if facts.get("format_version") != version:
        raise EngineError(
            f"{directory} has format version {facts.get('format_version')}, this BagPack reads {version}; build it "
            f"again"
        )
    return facts


class DirectoryBuild:
    """The directory of an index while it is built."""

    def __init__(self, address: Address, overwrite: bool) -> None:
        self._engine = address.scheme
        self.directory = directory_of(address)
        if not self.directory.name:
            raise UsageError(
                f"{address} does not name a directory of its own; write {address.scheme}:my-index, for example"
            )
        what = "search index"
        check_replaceable(
            self.directory, is_ours=is_index, what=what, overwrite=overwrite, option="name for the index"
        )
        self._manager = new_directory(self.directory, is_ours=is_index, what=what, overwrite=overwrite)
        self.work = self._manager.__enter__()

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Seal the directory and give it its name."""
        own = {"kind": "engine", "engine": self._engine, "build": uuid.uuid4().hex}
        write_sealed(self.work / FACTS, {**own, **facts})
        self._manager.__exit__(None, None, None)

    def abandon(self) -> None:
        """Remove the unfinished directory."""
        aborted = EngineError("the build was aborted")
        with suppress(EngineError):
            self._manager.__exit__(EngineError, aborted, None)
