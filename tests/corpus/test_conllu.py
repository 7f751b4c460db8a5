"""CoNLL-U: ranges and empty nodes are no tokens; spaces, documents."""

import pytest
from corpus_oracle import build, read_conllu, sentences, words
from hypothesis import given
from hypothesis import strategies as st

SAMPLE = """# newdoc id = first
# sent_id = 1
# text = "Don't, he said."
1\t"\t"\tPUNCT\t_\t_\t_\t_\t_\tSpaceAfter=No
2-3\tDon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tDo\tdo\tAUX\t_\t_\t_\t_\t_\tSpaceAfter=No
3\tn't\tnot\tPART\t_\t_\t_\t_\t_\tSpaceAfter=No
4\t,\t,\tPUNCT\t_\t_\t_\t_\t_\t_
5\the\the\tPRON\t_\t_\t_\t_\t_\t_
5.1\tghost\tghost\tVERB\t_\t_\t_\t_\t_\t_
6\tsaid\tsay\tVERB\t_\t_\t_\t_\t_\tX=Y|SpaceAfter=No
7\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_

# newdoc id = second
1\tau\t_\tADP\t_\t_\t_\t_\t_\t_
2-3\tdu\t_\t_\t_\t_\t_\t_\t_\t_
2\tde\tde\tADP\t_\t_\t_\t_\t_\t_
3\tle\tle\tDET\t_\t_\t_\t_\t_\t_
4\t_\t_\tX\t_\t_\t_\t_\t_\t_

"""


def test_words_are_tokens_and_ranges_and_empty_nodes_are_not(tmp_path, write):
    corpus = build(write("a.conllu", SAMPLE), tmp_path / "s")
    first, second = sentences(corpus)
    assert first == (
        "first",
        [('"', '"', False), ("Do", "do", True), ("n't", "not", True), (",", ",", True), ("he", "he", False),
         ("said", "say", False), (".", ".", True)],
    )  # fmt: skip
    assert second == (
        "second",
        [("au", "au", False), ("de", "de", False), ("le", "le", False), ("_", "_", False)],
    )
    assert corpus.shards[0].text(0, 7) == "\"Don't, he said."


def test_crlf_and_a_missing_last_blank_line_change_nothing(tmp_path, write):
    plain = sentences(build(write("a.conllu", SAMPLE), tmp_path / "s"))
    other = write("b.conllu", SAMPLE.rstrip().replace("\n", "\r\n"))
    assert sentences(build(other, tmp_path / "t")) == plain


def test_a_file_behind_one_without_its_last_blank_line(tmp_path, write):
    sources = [write("a.conllu", SAMPLE.rstrip() + "\n"), write("b.conllu", SAMPLE.rstrip())]
    plain = sentences(build(write("c.conllu", SAMPLE), tmp_path / "s"))
    assert sentences(build(sources, tmp_path / "t")) == plain * 2


def test_without_newdoc_the_file_is_the_document(tmp_path, write):
    source = write("a.conllu", SAMPLE.replace("# newdoc", "# other"))
    assert {document for document, _ in sentences(build(source, tmp_path / "s"))} == {str(source)}


@pytest.mark.parametrize(
    "bad",
    [
        "2\tbad\tx",  # too few columns
        "2\t\tx" + "\t_" * 7,  # no form
        "x\tbad\tx" + "\t_" * 7,  # no id
        "2-x\tbad\tx" + "\t_" * 7,
    ],
)
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
def test_any_sentences_are_read_as_the_oracle_reads_them(tmp_path_factory, blocks, newline):
    text = newline.join(line for block in blocks for line in [*block, ""]) + newline
    place = tmp_path_factory.mktemp("c")
    (place / "a.conllu").write_bytes(text.encode())
    corpus = build(place / "a.conllu", place / "s", format="conllu")
    assert sentences(corpus) == read_conllu(text, str(place / "a.conllu"))
