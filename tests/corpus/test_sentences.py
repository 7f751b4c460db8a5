"""Sentence ends: whatever the text, they cover it."""

from contextlib import nullcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bagpack.corpus.text import sentences
from bagpack.corpus.text.sentences import join_paragraphs, split_sentences


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
    def segment(lang, text):
        if isinstance(answer, BaseException):
            raise answer
        return answer

    monkeypatch.setattr("sentencex.segment", segment)
    interrupted = isinstance(answer, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt) if interrupted else nullcontext():
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
