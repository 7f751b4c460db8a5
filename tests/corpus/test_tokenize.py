"""Kernels against readable Python that shares no code with them: tokens, sentences, strings, the merged lexicon."""

import os
import random
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from contextlib import nullcontext
from unittest.mock import Mock

import numpy as np
import pytest
from corpus_oracle import small_disk
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bagpack.corpus import strings as strings_module
from bagpack.corpus.build import interning
from bagpack.corpus.build import lexicon as lexicon_writer
from bagpack.corpus.build.interning import InternTable
from bagpack.corpus.build.lexicon import merge_all, most_frequent_keys, new_array
from bagpack.corpus.options import TextOptions
from bagpack.corpus.segment import fold_all
from bagpack.corpus.strings import FEW, SAMPLED, Strings, split_pairs
from bagpack.corpus.text import sentences, tokenizer
from bagpack.corpus.text.casefold import folding
from bagpack.corpus.text.languages import LANGUAGES
from bagpack.corpus.text.sentences import join_paragraphs, split_sentences
from bagpack.corpus.text.tokenizer import NO_SPACE_BEFORE, OPENS_SENTENCE, Tokens, split_word, tokenize
from bagpack.errors import StoreError

OTHER_ABBREVIATIONS = {
    code: f"{LANGUAGES[code].abbreviations} {LANGUAGES[code].titles}".split() for code in ("fr", "de")
}
ABBREVIATIONS = re.compile(
    "mr|mrs|ms|messrs|mme|dr|drs|prof|st|ste|jr|sr|rev|hon|gov|gen|col|sgt|capt|cpt|cmdr|lt|maj|adm|brig|pres|"
    "sen|rep|supt|vs|etc|inc|ltd|co|corp|bros|dept|univ|assn|est|approx|figs?|vols?|pp|eds?|al|cf|ca|viz|ibid|"
    "jan|feb|apr|aug|sept|oct|nov|dec|ave|blvd|rd|mt|ft",
    re.IGNORECASE | re.ASCII,
)


def shape_of(char):
    """One character that says what the rules see: A a 0 m (mark) 字 space, an ASCII symbol, or ¤."""
    point, category = ord(char), unicodedata.category(char)
    if char == "’":
        return "'"
    if char in "‐‑":
        return "-"
    if char in "–—…" or (point < 128 and category[0] in "PS"):
        return char
    if category[0] == "Z" or category == "Cc" or char in "\u200b\ufeff":
        return " "
    if category[0] == "M" or category == "Cf" or 0xE0000 <= point < 0xE0200:
        return "m"
    if 0x20000 <= point < 0x40000:
        return "字"
    if category[0] in "LN":
        name = unicodedata.name(char, "")
        if re.match(
            r"(HALFWIDTH )?(KATAKANA|HIRAGANA)|CJK|KANGXI|IDEOGRAPHIC|BOPOMOFO|HENTAIGANA|HANGZHOU", name
        ):
            return "字"
        return "0" if category[0] == "N" else "A" if category in ("Lu", "Lt") else "a"
    return "¤"


def oracle(text, lang="en"):
    """Split one sentence into (form, glued) pairs."""
    shape = "".join(map(shape_of, text))
    tokens, i, glued = [], 0, False
    while i < len(text):
        if shape[i] == " ":
            i, glued = i + 1, False
            continue
        for piece in pieces_at(text, shape, i, lang):
            tokens.append((piece, glued))
            i, glued = i + len(piece), True
    return tokens


def pieces_at(text, shape, i, lang):
    if address := address_at(text, shape, i):
        return [address]
    if shape[i] in "Aa0m":
        return word_pieces(text, shape, i, lang)
    if lang == "en" and (match := re.match(r"['’](?:s|m|d|re|ve|ll|em)", text[i:], re.I | re.A)):
        after = shape[i + match.end() : i + match.end() + 1]
        if after not in ("A", "a", "0", "m", "'"):
            return [match[0]]
    run = re.match(r"([-.*=_~#+!?'`–—…])\1*|.", text[i:], re.S).end()
    return [text[i : i + run] + text[i + run : i + run + marks_at(shape, i + run)]]


def marks_at(shape, i):
    return re.compile("m*").match(shape, i).end() - i


def address_at(text, shape, i):
    head = re.compile("[Aam]+://(?=[Aa0])").match(shape, i) or (
        text[i : i + 4].lower() == "www." and re.compile("....(?=[Aa0])").match(shape, i)
    )
    if head:
        body = re.compile(r"""[^\s<>"]*""").match(text, head.end())[0]
        body = body[
            : re.compile(r"(?:[^ ¤–—…'-]|[-'])*").match(shape[head.end() : head.end() + len(body)]).end()
        ]
        wide = re.search("[’‐‑]", body)
        body = body[: wide.start()] if wide else body
        final = r"[!',.:;?@\[\\\]^`{|}*(]" if "(" in body else r"[!',.:;?@\[\\\]^`{|}*()]"
        return text[i : head.end()] + re.sub(f"{final}+$", "", body)
    return None


def word_end(shape, i):
    """The longest run of word characters and joiners."""
    end = re.compile("[Aa0m]+").match(shape, i).end()
    while re.match(r"[^ 字m][Aa0]", shape[end : end + 2]):
        before = shape[i:end].replace("m", "")[-1:] or "a"
        joiner, after = shape[end], shape[end + 1]
        piece = len(re.search(r"[Aa0m]*$", shape[i:end])[0].replace("m", ""))
        if not (
            joiner in "-'_"
            or (joiner in ".,:/" and before == after == "0")
            or (joiner == "." and "0" not in (before, after) and (after == "a" or piece <= 2))
            or (joiner == "&" and before == after == "A")
        ):
            break
        end = re.compile("[Aa0m]+").match(shape, end + 1).end()
    return end


def word_pieces(text, shape, i, lang):
    end = word_end(shape, i)
    word, form = shape[i:end], text[i:end]
    if lang == "fr" and (elided := re.match(r"[Aam]+'(?=.)", word)):
        return [form[: elided.end()]]
    if shape[end : end + 1] == "@" and (
        domain := re.match(
            r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?:\.[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)+", text[end + 1 :]
        )
    ):
        return [form + "@" + domain[0]]
    if re.match(r"\.(?!\.)", shape[end:]):
        bare = word.replace("m", "")
        goes_on = re.search("[Aa0m字]", shape[end:])
        if (
            re.fullmatch(r"[Aa]{,2}(?:\.[Aa]{1,2})+", bare)
            or (re.fullmatch("[Aa]", bare) and goes_on)
            or (lang == "en" and ABBREVIATIONS.fullmatch(form))
            or (lang != "en" and form.isascii() and form.lower() in OTHER_ABBREVIATIONS[lang])
        ):
            return [form + "."]
    if lang != "en":
        return [form]
    clitics = []
    while len(clitics) < 2 and (
        match := re.search(r"(?<=.)(?:n['’]t|['’](?:s|m|d|re|ve|ll|em))\Z", form, re.I | re.A | re.S)
    ):
        clitics.insert(0, match[0])
        form = form[: match.start()]
    return [form, *clitics]


def kernel(text, lang="en"):
    data = text.encode()
    tokens = tokenize(data, np.array([len(data)]), lang)
    return [
        (data[start:stop].decode(), bool(flag & NO_SPACE_BEFORE))
        for start, stop, flag in zip(tokens.starts, tokens.stops, tokens.flags, strict=True)
    ]


SNIPPETS = st.sampled_from(
    re.split(
        " ",
        "don't I'd've lion's lions' ’s 'em n't U.S. e.g. Ph.D. J. Mr. etc. 1,000.50 12:30 AT&T a.b@c.de @ "
        'http://a.b/c_(d). www.x.org/ www. :// end.Next ... -- — … ‘ ’ " ( ) é ñ́ 日本 カナ ½ m² x_y co‑op '
        "mother-in-law l'eau d’or 4th _ ' . , : / & 😀 👍️ А.С. Ω \u200b \u00ad \u00a0 \t \n",
    )
)
TEXTS = st.one_of(
    st.lists(st.one_of(SNIPPETS, st.just(" "), st.just("")), max_size=12).map("".join),
    st.lists(SNIPPETS, max_size=12).map(" ".join),
    st.text(st.sampled_from("aAbBnNtTsSmMwW0 9.,:/&@-_'’é日\u0301()–*! "), max_size=25),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)


@given(TEXTS, st.sampled_from(["en", "fr", "de", "en-GB"]))
@example("", "en")
@example("   ", "en")
@example("l'eau d’Italie", "fr")
@example("Peter's Mr. x", "de")
@example("Peter's", "en-GB")
@settings(max_examples=1200)
def test_kernel_agrees_with_the_readable_tokenizer(text, lang):
    assert kernel(text, lang) == oracle(text, lang[:2])


@given(TEXTS, st.lists(st.integers(0, 80), max_size=4))
@settings(max_examples=500)
def test_tokens_cover_everything_but_white_space(text, cuts):
    data = text.encode()
    boundaries = {len(text[:k].encode()) for k in range(len(text) + 1)}
    ends = sorted({cut for cut in cuts if cut in boundaries})
    tokens = tokenize(data, np.array(ends, dtype=np.int64), "en")
    position = 0
    sentences = set()
    for start, stop, flag in zip(*(array.tolist() for array in tokens), strict=True):
        assert position <= start < stop
        between = data[position:start].decode()
        assert all(shape_of(char) == " " for char in between)
        assert bool(flag & NO_SPACE_BEFORE) == (start == position and start > 0)
        sentence = sum(end <= start for end in ends)
        assert sentence == sum(end < stop for end in ends)
        assert bool(flag & OPENS_SENTENCE) == (sentence not in sentences)
        sentences.add(sentence)
        position = stop
    assert all(shape_of(char) == " " for char in data[position:].decode())


@given(st.binary(max_size=40))
@settings(max_examples=300)
def test_any_bytes_are_survived(data):
    tokens = tokenize(data, np.array([len(data)]), "en")
    assert np.all(tokens.starts < tokens.stops)
    assert np.all(tokens.stops[:-1] <= tokens.starts[1:])


def test_output_arrays_too_short_are_refused():
    data = np.frombuffer(b"a b", dtype=np.uint8)
    with pytest.raises(ValueError, match="3 tokens"):
        tokenize(data, np.array([3]), "en", Tokens.empty(2))


def test_each_kernel_is_compiled_once():
    """A constant among the arguments makes numba compile a kernel for it, and all that it calls: twice the time."""
    split_word("The lion's share, e.g. 1,000. Then J. Smith, www.a.org; a@b.org", "en")
    split_word("Aujourd'hui, c'est-à-dire demain, vas-tu l'eau?", "fr")
    kernels = {name: kernel for name, kernel in vars(tokenizer).items() if hasattr(kernel, "py_func")}
    own = {name: found for name, found in kernels.items() if found.py_func.__module__ == tokenizer.__name__}
    assert len(own) >= 6
    for name, found in own.items():
        cached = {key[0] for key in found._cache._cache_file._load_index()}
        assert len(cached) == 1, (name, cached)


@given(
    st.text(st.sampled_from("aAB. !?\n'\"()。é\u2028\u00a0\u3000\r\u0085।"), max_size=60)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.sampled_from(["en", "de", "ja", "hi", "xx"]),
    st.sampled_from([7, 20, 4096]),
)
@settings(max_examples=500)
def test_sentences_concatenate_to_the_text(text, lang, window):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "_WINDOW", window)
        parts = split_sentences(text, lang)
    assert "".join(parts) == text
    assert all(parts)


def test_a_window_changes_nothing(monkeypatch):
    """And what is longer than any window stays whole."""
    text = " ".join(f"Mr. Brown saw café no. {k} at 5 p.m. on the {k}th. Was it good?" for k in range(400))
    long = "word " * 10_000 + "end. " + "x" * 20_000 + " yes. Next."
    through_windows = [split_sentences(each, "en") for each in (text, long)]
    assert [len(part) for part in through_windows[1]] == [50_005, 20_006, 5]
    monkeypatch.setattr(sentences, "_WINDOW", len(text))
    assert through_windows[0] == split_sentences(text, "en")


def test_wide_spaces_that_make_sentencex_panic():
    assert split_sentences("By A.\u2028B. Clark. Yes.", "en") == ["By A.\u2028B. Clark. ", "Yes."]


@pytest.mark.parametrize("answer", [RuntimeError("panic"), ["One. ", "lost"], KeyboardInterrupt()])
def test_a_failing_segmenter_is_replaced_but_an_interrupt_gets_through(monkeypatch, answer):
    failing = {"side_effect": answer} if isinstance(answer, BaseException) else {"return_value": answer}
    monkeypatch.setattr("sentencex.segment", Mock(**failing))
    with pytest.raises(KeyboardInterrupt) if isinstance(answer, KeyboardInterrupt) else nullcontext():
        assert split_sentences("One. Two (é!) three.", "en") == ["One. ", "Two (é!) ", "three."]


@given(st.lists(st.text(st.sampled_from("aB. !\né\u00a0"), max_size=30), max_size=6))
@settings(max_examples=300)
def test_joined_paragraphs_end_where_they_do_alone(paragraphs):
    block = join_paragraphs(paragraphs, "en")
    assert block.data.decode() == "".join(paragraph + "\n" for paragraph in paragraphs)
    starts = [0, *block.paragraph_ends.tolist()]
    assert starts[-1] == len(block.data)
    expected = []
    for start, end, paragraph in zip(starts, starts[1:], paragraphs, strict=False):
        assert block.data[start:end].decode() == paragraph + "\n"
        for sentence in split_sentences(paragraph, "en"):
            start += len(sentence.encode())
            expected.append(start)
        if paragraph:
            expected[-1] += 1
    assert block.sentence_ends.tolist() == expected


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
@pytest.mark.parametrize("hashes", [interning.hash_spans, lambda *spans: spans[-1].fill(7)])  # all collide
def test_interning_gives_ids_in_order_of_first_sight_unless_skipped(hashes, rows):
    rows = [(form.replace(b"\t", b""), key, skip) for form, key, skip in rows]
    forms, keys = Strings.of([r[0] for r in rows]), Strings.of([r[1] for r in rows])
    table = InternTable(capacity=2)  # so that every table has to grow
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interning, "hash_spans", hashes)
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
    monkeypatch.setattr(lexicon_writer, "SMALL", 1 << 16)
    with small_disk(tmp_path, "2m"):
        fits = new_array(1 << 17, np.int64, tmp_path)
        fits[:] = 1
        with pytest.raises(StoreError, match=rf"disk .*{tmp_path} "):
            new_array(1 << 18, np.int64, tmp_path)
        assert fits.sum() == 1 << 17
        del fits
        new_array(1 << 17, np.int64, tmp_path)[:] = 1  # the space is free again
