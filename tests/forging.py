"""Changing artefacts so that their seals are right."""

import json

import numpy as np

from bagpack.artefacts import seal_of
from bagpack.errors import BagpackError
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


def assert_damage_is_found(path, verify):
    """`verify` finds a flipped bit, a missing end and added bytes in any file; yields while a file is damaged."""
    assert list(verify(path)) == []
    rng = np.random.default_rng(0)
    for file in [path / "manifest.json", *sorted(data_of(path).iterdir())]:
        whole = file.read_bytes()
        damaged = [whole[:-8], whole + bytes(8)]
        for at in rng.integers(0, len(whole), 6).tolist():
            bits = bytearray(whole)
            bits[at] ^= 1 << int(rng.integers(8))
            damaged.append(bytes(bits))
        for content in damaged:
            file.write_bytes(content)
            try:
                found = list(verify(path))
            except BagpackError as error:
                found = [str(error)]
            assert found, file.name
            yield
        file.write_bytes(whole)
    assert list(verify(path)) == []
