"""The manifest of a store that was built or added to, and the corpus-wide lexicon that it names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bagpack.artefacts import seal_of
from bagpack.corpus.build.lexicon_writer import write_lexicon
from bagpack.corpus.options import TextOptions
from bagpack.corpus.store.format import FORMAT_VERSION
from bagpack.corpus.store.manifest import FACTS, KIND, NUMBERS
from bagpack.corpus.store.shard import Shard
from bagpack.files import digest
from bagpack.parallel import delayed, run


def shard_entry(shards: Path, name: str) -> dict[str, Any]:
    """A shard's entry in the manifest."""
    facts = Shard(shards / name).facts
    return {
        "name": name,
        **{key: facts[key] for key in NUMBERS},
        **({"tags": facts["tags"]} if "tags" in facts else {}),
        "digest": digest((shards / name / FACTS).read_bytes()),
    }


def make_manifest(
    root: Path,
    lexicon: str,
    shards: list[dict[str, Any]],
    options: TextOptions,
    *,
    sources: list[dict[str, Any]],
    problems: dict[str, int],
    left_out: Sequence[dict[str, str]] = (),
    appended: Sequence[dict[str, Any]] = (),
    workers: int = 1,
) -> dict[str, Any]:
    """Write the lexicon of these shards and describe the store that they make.

    Where `workers` are running, one of them merges the lexicon: it has loaded the kernels, which takes this process
    longer than the merging.
    """
    root = root.absolute()  # the worker may have been started in another directory
    paths = [root / "shards" / entry["name"] for entry in shards]
    (checksums,) = run([delayed(write_lexicon)(paths, root / lexicon)], workers)
    counted = {name: sum(entry[name] for entry in shards) for name in ("tokens", "sentences", "documents")}
    identity = "\n".join([*(entry["digest"] for entry in shards), str(sorted(options.to_dict().items()))])
    manifest: dict[str, Any] = {
        "kind": KIND,
        "format_version": FORMAT_VERSION,
        **counted,
        "types": (root / lexicon / "keys.offsets").stat().st_size // 8 - 1,
        "content_hash": digest(identity.encode()),
        "options": options.to_dict(),
        "sources": sources,
        "problems": problems,
        **({"left_out": list(left_out)} if left_out else {}),
        **({"appended": list(appended)} if appended else {}),
        "lexicon": {"directory": lexicon, "checksums": checksums},
        "shards": shards,
    }
    return {**manifest, "seal": seal_of(manifest)}
