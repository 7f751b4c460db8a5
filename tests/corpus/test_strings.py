"""Kernels over byte strings and token ids, and the merged lexicon, against plain Python."""

import os
import random
import subprocess
from bisect import bisect_left
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bagpack.corpus import strings as strings_module
from bagpack.corpus.build import lexicon as lexicon_writer
from bagpack.corpus.build.interning import InternTable
from bagpack.corpus.build.lexicon import merge_all, most_frequent_keys, new_array
from bagpack.corpus.options import TextOptions
from bagpack.corpus.segment import fold_all
from bagpack.corpus.strings import FEW, SAMPLED, Strings, split_pairs
from bagpack.corpus.text.casefold import folding
from bagpack.errors import StoreError

byte_strings = st.lists(st.binary(max_size=20), max_size=60)
# Long common prefixes, zero bytes and strings that end where others go on.
nasty_strings = st.lists(
    st.text("ab\0", max_size=30).map(lambda tail: b"prefix-1234567" + tail.encode()), max_size=40
)


@given(byte_strings | nasty_strings)
def test_sort_order_is_that_of_bytes_and_stable(items):
    order = Strings.of(items).sort_order().tolist()
    assert order == sorted(range(len(items)), key=lambda i: items[i])


def assert_found(items, asked):
    bounds = [bisect_left(items, query) for query in asked]
    assert Strings.of(items).first_not_below(asked).tolist() == bounds
    equal = [items[at : at + 1] == [query] for at, query in zip(bounds, asked, strict=True)]
    assert Strings.of(items).find(asked).tolist() == np.where(equal, bounds, -1).tolist()


@given(byte_strings | nasty_strings, byte_strings)
def test_find_is_a_binary_search_for_equality(items, queries):
    items = sorted(set(items))
    for times in (1, FEW + 1):  # without and with the kernel
        assert_found(items, [*queries, *items, b"\xff" * 9] * times)


@pytest.mark.parametrize("size", [0, 1, SAMPLED, SAMPLED + 1, 3000])
def test_searching_for_many_equals_a_plain_binary_search(size, monkeypatch):
    monkeypatch.setattr(strings_module, "AT_ONCE", 1000)
    rng = random.Random(3)
    pieces = ["", "a", "ab", "abcdefgh", "abcdefghi", "\0", "\uffff", "\U0010ffff" * 2]
    items = ["".join(rng.choices(pieces, k=4)) + str(rng.randrange(900)) for _ in range(size)]
    items = sorted([item.encode() for item in [*items, *items[::2]]])  # half of them twice
    asked = [*items, *(item + b"0" for item in items), *(item[:-1] for item in items), *(b"", b"zz") * FEW]
    assert_found(items, asked)


@given(st.lists(st.text(max_size=8) | st.text("IİıiAÄäa\u0308\u0307ΐẞß", max_size=8), max_size=20))
@pytest.mark.parametrize("options", [TextOptions(), TextOptions(case="keep")])
def test_the_kernel_folds_as_python_does(options, items):
    folded = fold_all(Strings.of(items), options)
    expected = list(map(folding(options), items))
    assert [entry.decode() for entry in folded] == expected
    assert folded.equals(Strings.of(items)).tolist() == [a == b for a, b in zip(expected, items, strict=True)]


@given(st.lists(st.tuples(st.binary(max_size=20), st.text("xy", max_size=3), st.booleans()), max_size=40))
def test_interning_gives_ids_in_order_of_first_sight_unless_skipped(rows):
    rows = [(form.replace(b"\t", b""), key, skip) for form, key, skip in rows]
    forms, keys = Strings.of([r[0] for r in rows]), Strings.of([r[1] for r in rows])
    table = InternTable(capacity=2)  # so that every table has to grow
    ids = table.add_pairs(forms, keys, np.array([r[2] for r in rows], bool))
    seen: dict[tuple[bytes, str], int] = {}
    assert ids.tolist() == [-1 if skip else seen.setdefault((a, b), len(seen)) for a, b, skip in rows]
    back = split_pairs(table.strings())
    assert [(a, b.decode()) for a, b in zip(*back, strict=True)] == list(seen)


RNG = np.random.default_rng(5)


def counted(size, keys):
    found = Counter()
    for form, key, count in zip(
        RNG.integers(0, size, size), RNG.integers(0, keys, size), RNG.integers(1, 9, size), strict=True
    ):
        found[f"form{form}\tkey{key}".encode()] += int(count)
    order = sorted(found)
    return Strings.of(order), np.array([found[entry] for entry in order], np.int64)


@pytest.mark.parametrize("small, at_once", [(1 << 24, 1 << 18), (0, 1), (0, 50)])
def test_each_form_has_its_most_frequent_key(tmp_path, monkeypatch, small, at_once):
    """In memory and in files alike, and however many are looked at together."""
    monkeypatch.setattr(lexicon_writer, "SMALL", small)
    monkeypatch.setattr(lexicon_writer, "AT_ONCE", at_once)
    lists = [counted(300, 5) for _ in range(5)]
    total = Counter()
    for strings, counts in lists:
        total.update(dict(zip(strings, counts.tolist(), strict=True)))
    pairs, counts = merge_all(lambda item: item, lists, tmp_path)
    assert dict(zip(pairs, counts.tolist(), strict=True)) == total
    keys = Strings.of(sorted([*(f"key{n}" for n in range(5)), "form7", "form11"]))
    forms, chosen = most_frequent_keys(pairs, counts, keys)
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
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", tmp_path], check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
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
