"""CoNLL-U: ranges and empty nodes are no tokens; spaces, documents."""

import pytest
from corpus_oracle import build, read_conllu, sentences, words
from hypothesis import given
from hypothesis import strategies as st

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
def test_any_sentences_are_read_as_the_oracle_reads_them(tmp_path_factory, blocks, newline):
    text = newline.join(line for block in blocks for line in [*block, ""]) + newline
    place = tmp_path_factory.mktemp("c")
    (place / "a.conllu").write_bytes(text.encode())
    corpus = build(place / "a.conllu", place / "s", format="conllu")
    assert sentences(corpus) == read_conllu(text, str(place / "a.conllu"))
