"""Vertical text, clean and as WaCky files are in the wild, CoNLL-U, and parts of speech."""

import json

import pytest
from corpus_oracle import DATA, build, read_conllu, read_vertical, sentences, text_of, words
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.conftest import samples

from bagpack import Corpus, index_corpus
from bagpack.corpus.build.interning import InternTable
from bagpack.corpus.readers.token_lines import WINDOW
from bagpack.corpus.readers.vertical import column_numbers, guess_columns, read_document
from bagpack.corpus.text.tags import CODES, UNIVERSAL, identify_tagset, tag_code
from bagpack.errors import InputError, UsageError

COLUMNS = "word,tag,lemma"


def flat(corpus):
    return [" ".join(f"{form}/{key}" for form, key, _ in tokens) for _, tokens in sentences(corpus)]


@pytest.mark.parametrize(("case", "text", "expected"), samples("corpus/data/vertical.jsonl"))
def test_what_files_are_like_in_the_wild(case, text, expected, tmp_path, write):
    source = write("a.vert", text)
    corpus = build(source, tmp_path / "s", format="vertical", columns=COLUMNS)
    assert "|".join(flat(corpus)) == expected


def test_punctuation_dropped_leaves_no_empty_sentence_and_no_false_glue(tmp_path, write):
    lines = (
        "<s>\n...\t:\t...\n</s>\n<s>\nHe\tP\the\nsaid\tV\tsay\n``\tQ\t``\n<g/>\nHello\tU\thello\n<g/>\n!\tS\t!\n</s>\n"
        "<s>\n-\t:\t-\n<g/>\nx\tN\tx\n</s>\n<s>\n.\tS\t.\n</s>\n"
    )
    corpus = build(write("a.vert", lines), tmp_path / "s", punctuation="drop")
    assert words(corpus) == [["He", "said", "Hello"], ["x"]]
    assert text_of(corpus.segments[0], 0, 3) == "He said Hello"
    assert corpus.sentences == 2


def test_columns_are_noticed_or_named(tmp_path, write):
    rows = ("The", "the", "DT"), ("lions", "lion", "NNS"), ("were", "be", "VBD"), ("sleeping", "sleep", "VVG")
    pukwac = "<s>\n" + "".join("\t".join([*row, "1", "2", "X\n"]) for row in rows) + "</s>\n"
    lemmas = "<s>\nThe\tthe\nlions\tlion\nwent\tgo\n.\t.\n</s>\n"
    tagged = "<s>\nThe\tDT\nlion\tNN\nsleeps\tVBZ\nto\tTO\nlive\tVB\n.\t.\n</s>\n"
    guessed = [guess_columns(text.encode()) for text in (pukwac, lemmas, tagged)]
    assert guessed == ["word,lemma,tag", "word,lemma", "word,tag"]
    assert flat(build(write("a.xml", pukwac), tmp_path / "s")) == [
        "The/the lions/lion were/be sleeping/sleep"
    ]
    source = write("a.vert", tagged)
    with pytest.raises(InputError, match="--level form"):
        build(source, tmp_path / "s")
    assert flat(build(source, tmp_path / "s", level="form")) == [
        "The/the lion/lion sleeps/sleeps to/to live/live ./."
    ]
    source = write("a.vert", "<s>\nlion\tNNS\tLions\n</s>\n")
    assert flat(build(source, tmp_path / "s", columns="lemma,tag,word")) == ["Lions/lion"]
    assert column_numbers("form, pos ,base") == (0, 2, 1)
    with pytest.raises(UsageError, match="--columns tag,lemma "):
        column_numbers("tag,lemma")
    source = write("a.vert", "<s>\nLions\tlion\tNOUN\nsleep\tsleep\nwell\twell\tADV\n</s>\n")
    # One line has no last column.
    corpus = build(source, tmp_path / "s", columns="word,lemma,tag", tagset="UD")
    assert [UNIVERSAL[code] for code in corpus.segments[0].tags] == ["NOUN", "X", "ADV"]


def test_a_first_word_that_fills_half_the_table_without_a_lemma(tmp_path, write, monkeypatch):
    """As FORM TAB FORM it has one byte more than there is room: the table must grow, not be asked again for ever."""
    left, really = iter(range(9)), InternTable.grow
    monkeypatch.setattr(InternTable, "grow", lambda *arguments: (next(left), really(*arguments)))
    source = write("a.vert", "<s>\n" + "x" * (InternTable().blob.size // 2) + "\n</s>\n")
    assert build(source, tmp_path / "s", format="vertical", level="form", columns="word").tokens == 1


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 60, WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW])
def test_words_of_any_length_at_any_place(length, tmp_path, write):
    """Fields are found window by window and compared eight bytes at a time: no length and no place is special."""
    forms = ["a" * length + end for end in ("", "b", "c", "b")]
    lines = "".join(f"{form}\tN\t{form[::-1]}\n" for form in forms)
    source = write("a.vert", "<s>\n" + lines + "</s>\n<s>\n" + lines.removesuffix("\n"))
    corpus = build(source, tmp_path / "s", max_sentence=10)
    assert flat(corpus) == [" ".join(f"{form}/{form[::-1]}" for form in forms)] * 2
    assert corpus.types == 3


@pytest.mark.parametrize(("tag", "name"), samples("corpus/data/documents.jsonl"))
def test_document_names(tag, name):
    assert read_document(tag).name == name


word = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=5
)
pieces = st.one_of(
    st.tuples(word, word, word).map("\t".join),
    st.sampled_from(
        ["<s>", "</s>", '<text id="a">', "</text>", '<doc id="&amp;b">', "<g/>", "<p>", "", "<odd>", "<", "<s\tx\ty",
         "&lt;\tS\t&lt;", "&amp;amp;\tC\t&amp;amp;", "a\tb\t<unknown>", "x\ty\t", "A\tN\ta\tmore\tand more", "<text>"]
    ),
)  # fmt: skip


def assert_read_as(oracle, path, text):
    path.write_bytes(text.encode())
    vertical = {"format": "vertical", "columns": COLUMNS}
    how = {"format": "conllu"} if path.suffix == ".conllu" else vertical
    assert sentences(build(path, path.with_name("s"), **how)) == oracle(text, str(path))


@given(st.lists(pieces, max_size=40), st.sampled_from(["\n", "\r\n"]))
@example(["0\t0\t\uf900"], "\n")  # a letter that is another one once it is composed
@settings(max_examples=40)
def test_any_lines_are_read_as_the_oracle_reads_them(tmp_path_factory, lines, newline):
    lines = [line for line in lines if line != "<"]  # alone it is a line with too few columns
    text = newline.join(["<s>", "first\tN\tfirst", *lines, ""])
    assert_read_as(read_vertical, tmp_path_factory.mktemp("v") / "a.vert", text)


@pytest.mark.parametrize("format", ["vertical", "conllu"])
def test_no_control_character_and_no_soft_hyphen_is_in_a_word_or_name(format, tmp_path, write):
    forms = ["li\0on", "a\x1bb", "c\x7f", "new\N{NO-BREAK SPACE}york", "\x01", "\x85"]
    rows = [f"{n}\t{form}\t{form}" + "\t_" * 7 for n, form in enumerate(forms, 1)]
    if format == "vertical":
        rows = ['<text id="a&#9;b&#1;c&#10;d">', *(f"{form}\tN\t{form}" for form in forms)]
    corpus = build(write("a\x01\tb.txt", "\n".join([*rows, "", ""])), tmp_path / "s", format=format)
    expected = ["li on", "a b", "c", "new york", "\ufffd", "\ufffd"]
    assert words(corpus) == [expected]
    assert sorted(map(bytes.decode, corpus.lexicon.keys)) == sorted(set(expected))
    (name,) = corpus.segments[0].documents
    assert name.endswith(b"a bc d" if format == "vertical" else b"/a b.txt")
    text = write("a.txt", "An inter\xadnational lion and an international cat. \xad\n")
    corpus = build(text, tmp_path / "t")
    assert corpus.count("international") == corpus.count("inter\xadnational") == 2


# CoNLL-U: ranges and empty nodes are no tokens; spaces, documents

REST = "\t_" * 7


# Too few columns, no form, no id.
@pytest.mark.parametrize("bad", ["2\tbad\tx", "2\t\tx" + REST, "x\tbad\tx" + REST, "2-x\tbad\tx" + REST])
def test_a_bad_line_that_is_skipped_does_not_take_the_rest_of_its_sentence_along(bad, tmp_path, write):
    row = "{0}\tw{0}\tw{0}" + "\t_" * 7
    lines = [row.format(1), bad, row.format(3), row.format(4), "", row.format(1), ""]
    corpus = build(write("a.conllu", "\n".join(lines) + "\n"), tmp_path / "s", bad_lines="skip")
    assert words(corpus) == [["w1", "w3", "w4"], ["w1"]]
    assert corpus.manifest["problems"]["skipped_lines"] == 1


form = st.text("abé'_.", min_size=1, max_size=4) | st.sampled_from(["&amp;", "&", "<unknown>", "<"])


@st.composite
def sentence(draw):
    forms = draw(st.lists(form, min_size=1, max_size=8))
    lines = draw(st.sampled_from([[], ["# newdoc"], ["# newdoc id = d"], ["# sent_id = 1", "# newdocs"]]))
    at = 1
    while at <= len(forms):
        span = draw(st.integers(1, 3))
        last = min(at + span - 1, len(forms))
        misc = draw(st.sampled_from(["_", "SpaceAfter=No", "A=b|SpaceAfter=No"]))
        if last > at:
            written = draw(st.sampled_from(["".join(forms[at - 1 : last]), "x"]))
            lines.append(f"{at}-{last}\t{written}" + "\t_" * 7 + f"\t{misc}")
        for number in range(at, last + 1):
            lemma = draw(st.sampled_from(["_", "lem", "É", ""]))
            lines.append(f"{number}\t{forms[number - 1]}\t{lemma}" + "\t_" * 6 + f"\t{misc}")
            if draw(st.booleans()):
                lines.append(f"{number}.1\tempty\tempty" + "\t_" * 7)
        at = last + 1
    return lines


@given(st.lists(sentence(), min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=40)
def test_any_sentences_are_read_as_the_oracle_reads_them(tmp_path_factory, blocks, newline):
    lines = [line for block in blocks for line in [*block, ""]]
    assert_read_as(read_conllu, tmp_path_factory.mktemp("c") / "a.conllu", newline.join([*lines, ""]))


def tags_of(corpus):
    """(form, universal tag) of every token."""
    return [
        (segment.forms[int(token) & ((1 << 30) - 1)], UNIVERSAL[tag])
        for segment in corpus.segments
        for token, tag in zip(segment.tokens.tolist(), segment.tags.tolist(), strict=True)
    ]


def vertical(*tokens):
    return "<s>\n" + "".join("\t".join(token) + "\n" for token in tokens) + "</s>\n"


# Each universal tag that a tagset has, behind a tag that has it.
TAGSETS = dict(line.split("\t") for line in (DATA / "tagsets.tsv").read_text().splitlines())


@pytest.mark.parametrize("name", TAGSETS)
def test_each_tagset_is_recognised_and_mapped(name):
    wanted = dict(pair.rsplit("=", 1) for pair in TAGSETS[name].split())
    assert {tag: UNIVERSAL[tag_code(name, tag)] for tag in wanted} == wanted
    assert identify_tagset(list(wanted)) == name
    assert tag_code(name, "no such tag") in (None, CODES["X"])


@pytest.mark.parametrize(("upos", "name"), [(("NOUN", "VERB"), "UD"), (("_", "_"), "Penn")])
def test_conllu_has_universal_tags_or_its_own(upos, name, tmp_path, write):
    rest = "\t_" * 5 + "\n"
    text = f"1\tsaw\tsaw\t{upos[0]}\tNN{rest}2\truns\trun\t{upos[1]}\tVBZ{rest}\n"
    corpus = build(write("a.conllu", text), tmp_path / "s")
    assert tags_of(corpus) == [("saw", "NOUN"), ("runs", "VERB")]
    assert corpus.tagsets == [name]


def test_what_stanza_writes(tmp_path):
    """`CoNLL.write_doc2conll` of Stanza 1.15.0: spaces, offsets and entities in MISC, a contraction in two."""
    corpus = build(DATA / "stanza.conllu", tmp_path / "s")
    found = tags_of(corpus)
    assert [tag for _, tag in found] == ["PRON", "AUX", "PART", "VERB", "PRON", "PUNCT", "DET", "NOUN"]
    assert " ".join(form for form, _ in found) == "They do n't saw it . The saw"
    assert (corpus.sentences, corpus.count("not"), corpus.tagsets) == (2, 1, ["UD"])
    for target, text in (("saw/NOUN", "The saw"), ("saw/VERB", "They do n't saw it.")):
        (line,) = corpus.contexts(target)
        assert "".join(line.pieces).strip() == text


def test_tags_stay_with_their_tokens_when_punctuation_is_dropped(tmp_path, write):
    rows = ("Lions", "NNS", "lion"), (",", ",", ","), ("they", "PRP", "they"), ("go", "VBP", "go")
    corpus = build(write("a.vert", vertical(*rows)), tmp_path / "s", punctuation="drop")
    assert tags_of(corpus) == [("Lions", "NOUN"), ("they", "PRON"), ("go", "VERB")]
    assert corpus.tags == {"NOUN": 1, "PRON": 1, "VERB": 1}
    assert corpus.verify() == []


def test_text_without_tags_has_no_file_and_is_x_where_others_have_tags(tmp_path, write):
    plain = build(write("a.txt", "Lions sleep.\n"), tmp_path / "plain")
    assert plain.tags == {} and plain.tagsets == []
    assert not (plain.segments[0].directory / "tags").exists()
    assert "parts_of_speech" not in plain.info()
    tagged = write("b.vert", vertical(("Lions", "NNS", "lion")))
    both = index_corpus([str(tagged)], tmp_path / "plain", append=True).corpus
    assert tags_of(both) == [("Lions", "X"), ("sleep", "X"), (".", "X"), ("Lions", "NOUN")]
    assert both.verify() == []
    assert both.info()["parts_of_speech"] == {"NOUN": 1}


def test_an_unknown_tagset_is_reported_and_all_x(tmp_path, write, cli):
    source = write("a.vert", vertical(("lions", "Q1", "lion"), ("sleep", "Q2", "sleep")))
    done = cli("index", source, "--out", tmp_path / "s")
    assert done.code == 0
    assert "--tagset" in done.err
    corpus = Corpus.open(tmp_path / "s")
    assert (corpus.tags, corpus.tagsets) == ({"X": 2}, ["unknown"])
    assert json.loads(cli("info", tmp_path / "s", "--json").out)["tagsets"] == ["unknown"]


def test_the_tagset_can_be_named(tmp_path, write, cli):
    source = write("a.vert", vertical(("Haus", "NN", "Haus"), ("ist", "NE", "sein")))
    assert build(source, tmp_path / "s", tagset="STTS").tags == {"NOUN": 1, "PROPN": 1}
    assert "Penn" in cli("index", source, "--out", tmp_path / "t", "--tagset", "Pen").sentence(2)
    with pytest.raises(UsageError, match="--tagset nothing"):
        identify_tagset(["NN"], "nothing")
