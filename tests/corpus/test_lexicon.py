"""The merged lexicon: the same as a dictionary gives, in bounded memory."""

import os
import subprocess
from collections import Counter

import numpy as np
import pytest

from bagpack.corpus.build import lexicon as lexicon_writer
from bagpack.corpus.build.lexicon import merge_all, most_frequent_keys, new_array
from bagpack.corpus.strings import Strings
from bagpack.errors import StoreError

RNG = np.random.default_rng(5)


def counted(size, keys):
    found = Counter()
    for form, key, count in zip(
        RNG.integers(0, size, size), RNG.integers(0, keys, size), RNG.integers(1, 9, size), strict=True
    ):
        found[f"form{form}\tkey{key}".encode()] += int(count)
    order = sorted(found)
    return Strings.of(order), np.array([found[entry] for entry in order], np.int64)


@pytest.mark.parametrize("small", [1 << 24, 0])
def test_each_form_has_its_most_frequent_key(tmp_path, monkeypatch, small):
    """In memory and in files alike."""
    monkeypatch.setattr(lexicon_writer, "SMALL", small)
    lists = [counted(300, 5) for _ in range(5)]
    total = Counter()
    for strings, counts in lists:
        total.update(dict(zip(strings, counts.tolist(), strict=True)))
    pairs, counts = merge_all(lambda item: item, lists, tmp_path)
    assert dict(zip(pairs, counts.tolist(), strict=True)) == total
    keys = Strings.of(sorted([*(f"key{n}" for n in range(5)), "form7", "form11"]))
    forms, chosen = most_frequent_keys(pairs, counts, keys, tmp_path)
    expected = {}
    for entry in sorted(total):
        form, key = entry.split(b"\t")
        if form not in (b"form7", b"form11") and total[entry] > expected.get(form, (0,))[0]:
            expected[form] = (total[entry], key)
    assert list(forms) == sorted(expected)
    assert [keys.bytes_at(index) for index in chosen] == [expected[form][1] for form in sorted(expected)]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fallocate", [True, False])
def test_a_full_disk_is_reported_before_anything_is_written(tmp_path, monkeypatch, fallocate):
    """A map of a file with holes would end the process with SIGBUS."""
    if not fallocate:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", tmp_path], capture_output=True, check=False
    )
    if mount.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mount.stderr.decode().strip()}")
    monkeypatch.setattr(lexicon_writer, "SMALL", 1 << 16)
    try:
        fits = new_array(1 << 17, np.int64, tmp_path)
        fits[:] = 1
        with pytest.raises(StoreError, match=rf"the disk is full: {tmp_path} could not be written"):
            new_array(1 << 18, np.int64, tmp_path)
        assert fits.sum() == 1 << 17
        del fits
        new_array(1 << 17, np.int64, tmp_path)[:] = 1  # the space is free again
    finally:
        subprocess.run(["umount", "--lazy", tmp_path], check=True)  # an array may still be mapped
