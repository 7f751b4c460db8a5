"""Changing artefacts so that their seals are right."""

import json

from bagpack.artefacts import seal_of
from bagpack.files import digest_file


def data_of(path):
    """The directory of an artefact's files."""
    return path / json.loads((path / "manifest.json").read_text())["data"]


def forge(path, *, file=None, content=b"", without=None, **changes):
    """Change a file or entries of the manifest, with checksums and a seal that are right."""
    manifest = json.loads((path / "manifest.json").read_text()) | changes
    manifest.pop(without, None)
    if file:
        (data_of(path) / file).write_bytes(content)
        manifest["checksums"][file] = digest_file(data_of(path) / file)
    if without != "seal":
        manifest["seal"] = seal_of(manifest)
    (path / "manifest.json").write_text(json.dumps(manifest))
