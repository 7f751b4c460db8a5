"""Wikipedia dumps: which pages are taken, how files are cut, and what is left of wikitext."""

import re
from html import escape

import pytest
from corpus_oracle import DATA, build, sentences
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import samples

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.look import look
from bagpack.corpus.readers.wikitext import paragraphs
from bagpack.errors import InputError

HEADER = (DATA / "siteinfo.xml").read_text(encoding="utf-8")
FOOTER = "</mediawiki>\n"
ARTICLE, EXPECTED = ((DATA / name).read_text(encoding="utf-8") for name in ("article.wiki", "article.txt"))


def page(title, text, ns=0, more=""):
    number = "" if ns is None else f"    <ns>{ns}</ns>\n"
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n{number}    <id>1</id>\n{more}    <revision>\n"
        f"      <id>2</id>\n      <contributor><username>A</username></contributor>\n"
        f'      <text bytes="3" xml:space="preserve">{escape(text)}</text>\n    </revision>\n  </page>\n'
    )


PAGES = [
    page("Dog & Co", ARTICLE),
    page("Talk:Dog", "Nobody barks.", ns=1),
    page("Hound", "#REDIRECT [[Dog]]"),
    page("Hund", "Nobody redirects.", more='    <redirect title="Dog" />\n'),
    page("Cat: a novel", "Cats sleep."),
    page("Empty", "{{stub}}"),
    page("Wolf", "Wolves hunt.\nThey howl."),
]
DUMP = HEADER + "".join(PAGES) + FOOTER


def documents(corpus):
    found = {}
    for document, words in sentences(corpus):
        found.setdefault(document, []).append(" ".join(form for form, *_ in words))
    return found


def squeezed(text):
    return "".join(text.split())


def test_a_dump_becomes_articles(tmp_path, write):
    corpus = build(write("dump.xml", DUMP), tmp_path / "s")
    assert corpus.manifest["sources"][0]["format"] == "mediawiki"
    found = documents(corpus)
    assert list(found) == ["Dog & Co", "Cat: a novel", "Wolf"]
    assert squeezed("".join(found["Dog & Co"])) == squeezed(EXPECTED)
    assert found["Wolf"] == ["Wolves hunt .", "They howl ."]


@pytest.mark.parametrize(("wikitext", "expected"), samples("corpus/data/markup.jsonl"))
def test_markup(wikitext, expected):
    assert paragraphs(wikitext) == expected


WORD = st.sampled_from(
    ["dog", "cat", "wolf", "a", "File:x", "Image:y.jpg", "fr:z", "Category:w", ": ", " ", "\n", "\n\n"]
)
ENCLOSING = [
    ("{{", "}}"), ("[[", "]]"), ("\n{|\n", "\n|}\n"), ("<ref>", "</ref>"), ("<b>", "</b>"), ("''", "''"),
]  # fmt: skip
ENCLOSING += [("[http://a ", "]"), ("<!--", "-->"), ("(", ")")]
JOINED = st.sampled_from(["", "|", "\n|", " "])
BALANCED = st.recursive(
    WORD,
    lambda inner: (
        st.tuples(st.sampled_from(ENCLOSING), st.lists(inner, max_size=4), JOINED).map(
            lambda made: made[0][0] + made[2].join(made[1]) + made[0][1]
        )
        | st.lists(inner, max_size=4).map(" ".join)
    ),
    max_leaves=30,
)
TOKENS = re.findall(
    r"\S+",
    "{{ }} {| |} [[ ]] [ ] { } | <ref> </ref> <ref/> <nowiki> </nowiki> <!-- --> <table> </table> <br> < > ' '' ''' "
    "= == * # : ; & &lt; &#91; __TOC__ Image: http://x dog",
)
PIECES = st.lists(st.sampled_from([*TOKENS, "\n", "\n\n", " "]), max_size=60).map("".join)


@given(BALANCED)
def test_balanced_markup_never_leaks(wikitext):
    shown = "\n".join(paragraphs(wikitext))
    assert not any(mark in shown for mark in ("{{", "}}", "[[", "]]", "''"))


@given(st.one_of(PIECES, st.text(max_size=80)))
def test_nothing_crashes_or_loses_the_next_paragraph_but_one(wikitext):
    found = paragraphs(wikitext)
    assert all(line.strip() == line and "\n" not in line and line for line in found)
    unclosed = (
        wikitext.replace("-->", "").replace("</", "").replace("}", "").replace("]", "").replace("|", "")
    )
    assert paragraphs(unclosed + "\n\n\nthe wolf hunts")[-1:] == ["the wolf hunts"]


@pytest.mark.parametrize("block", [300, 1_000, 7_777])
def test_a_large_file_is_cut_before_pages_and_read_in_blocks(block, tmp_path, write, monkeypatch):
    pages = (page(f"{title} {n}", "Wolves hunt.") for n in range(30) for title in ("Dog", "Cat: a novel"))
    source = write("dump.xml", HEADER + "".join(pages) + FOOTER)
    whole = documents(build(source, tmp_path / "s"))
    monkeypatch.setattr("bagpack.corpus.readers.files.BLOCK", block)
    cut = build(source, tmp_path / "t", part_bytes=2_000)
    assert len(cut.segments) > 3
    assert documents(cut) == whole and len(whole) == 60


def test_old_dumps_tell_namespaces_by_title(tmp_path, write):
    """As in the excerpt of 2006 that is known as enwik8: no <ns>, and the end cut off in a page, in a character."""
    titles = "Dog;Image:Dog.jpg;Category:Dogs;Wikipedia:Dogs;User talk:Dog;Talk:Dog;Dog: a life"
    data = (HEADER + "".join(page(title, "It barks.", ns=None) for title in titles.split(";"))).encode()
    corpus = build(write("enwik", data + page("Cut", "Nobody é".ljust(80)).encode()[:-70]), tmp_path / "s")
    assert list(documents(corpus)) == ["Dog", "Dog: a life"]
    assert corpus.manifest["problems"]["skipped_lines"] == 1


def test_the_last_revision_counts_and_other_content_does_not(tmp_path, write):
    two = page("Dog", "Old words.").replace(
        "</revision>", "</revision>\n<revision><text>New words.</text></revision>"
    )
    data = page("Data", "Nobody.").replace("<text", "<model>json</model>\n<text")
    gone = page("Gone", "").replace('xml:space="preserve"></text>', 'deleted="deleted" />')
    corpus = build(write("dump.xml", HEADER + two + data + gone + FOOTER), tmp_path / "s")
    assert documents(corpus) == {"Dog": ["New words ."]}


@pytest.mark.parametrize("change", [("title", "name"), ("<text", "<words"), ("</text>", ""), ("</page>", "")])
def test_a_damaged_page_is_reported_with_its_line_or_skipped(change, tmp_path, write):
    broken = page("A", "One.").replace(*change)
    source = write("dump.xml", HEADER + PAGES[-1] + broken + PAGES[-3] + FOOTER)
    line = (HEADER + PAGES[-1]).count("\n") + 1
    with pytest.raises(InputError, match=rf"dump\.xml:{line} .*--bad-lines skip"):
        build(source, tmp_path / "s")
    corpus = build(source, tmp_path / "s", bad_lines="skip")
    assert list(documents(corpus))[:1] == ["Wolf"]
    assert corpus.manifest["problems"]["skipped_lines"] == 1


def test_what_is_taken_for_a_dump(write):
    assert look(str(write("b.xml", PAGES[0])), TextOptions()).format == "mediawiki"
    with pytest.raises(InputError, match="MediaWiki"):
        look(str(write("c.xml", "<book><p>Dogs bark.</p></book>")), TextOptions(format="mediawiki"))
