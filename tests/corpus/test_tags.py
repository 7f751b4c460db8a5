"""Parts of speech in a store: read from annotated text, mapped to the universal tags, one byte a token."""

import json

import pytest
from corpus_oracle import build

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.text.tags import CODES, UNIVERSAL, identify_tagset, tag_code
from bagpack.errors import UsageError


def tags_of(corpus):
    """(form, universal tag) of every token."""
    return [
        (segment.forms[int(token) & ((1 << 30) - 1)], UNIVERSAL[tag])
        for segment in corpus.segments
        for token, tag in zip(segment.tokens.tolist(), segment.tags.tolist(), strict=True)
    ]


def vertical(*tokens):
    return "<s>\n" + "".join("\t".join(token) + "\n" for token in tokens) + "</s>\n"


# Each universal tag that a tagset has, by a tag that has it.
TAGSETS = {
    "Penn": "ADJ JJS ADP IN ADP RP ADV WRB AUX MD CCONJ CC DET PDT INTJ UH NOUN NNS NUM CD PART TO PART POS PRON PRP$ "
            "PROPN NNPS PUNCT `` SYM $ VERB VBZ X FW",
    "TreeTagger English": "ADJ JJR ADP IN ADV RBR AUX VHD AUX VBG CCONJ CC DET WDT INTJ UH NOUN NNS NUM CD PART TO "
                          "PRON WP$ PROPN NPS PUNCT '' SCONJ IN/that SYM SYM VERB VVZ X LS",
    "CLAWS5": "ADJ AJS ADP PRF ADP AVP ADV AVQ AUX VM0 AUX VDD AUX VHB CCONJ CJC DET DPS INTJ ITJ NOUN NN2 NUM ORD "
              "PART XX0 PRON PNX PROPN NP0 PUNCT PUQ SCONJ CJT SYM ZZ0 VERB VVI X UNC NOUN NN1-VVB",
    "CLAWS7": "ADJ JK ADP IO ADV RGQV AUX VM AUX VDZ AUX VH0 CCONJ CCB DET APPGE INTJ UH NOUN NNL2 NUM MF PART XX "
              "PRON PNQS PRON PPY PROPN NPM1 PUNCT YEX SCONJ CST SYM ZZ1 VERB VVGK X FU",
    "STTS": "ADJ ADJD ADP APPRART ADV PROAV AUX VMFIN CCONJ KON DET PPOSAT INTJ ITJ NOUN NN NUM CARD PART PTKZU "
            "PRON PRELS PROPN NE PUNCT $( SCONJ KOUS VERB VVPP X TRUNC",
    "TreeTagger French": "ADJ ADJ ADP PRP:det ADV ADV CCONJ KON DET DET:POS INTJ INT NOUN NOM NUM NUM PRON PRO:DEM "
                         "PROPN NAM PUNCT SENT SYM SYM VERB VER:infi X ABR",
    "TreeTagger Italian": "ADJ ADJ ADP PRE:det ADV ADV:mente AUX VER2:fin CCONJ CON DET DET:demo INTJ INT NOUN NOM "
                          "NUM NUM PRON PRO:pers PROPN NPR PUNCT PON SYM SYM VERB VER:infi X LS",
    "TreeTagger Spanish": "ADJ ADJ ADP PAL ADV NEG AUX VHfin AUX VEinf AUX VMger CCONJ CCNEG DET QU INTJ ITJN "
                          "NOUN NMEA NUM ORD PRON SE PROPN ACRNM PUNCT CM SCONJ CQUE SYM PERCT VERB VLadj X PNC",
    "UD": " ".join(f"{tag} {tag}" for tag in UNIVERSAL) + " PUNCT . PART PRT CCONJ CONJ",
}  # fmt: skip


@pytest.mark.parametrize("name", TAGSETS)
def test_each_tagset_is_recognised_and_mapped(name):
    words = TAGSETS[name].split()
    wanted = dict(zip(words[1::2], words[0::2], strict=True))
    assert {tag: UNIVERSAL[tag_code(name, tag)] for tag in wanted} == wanted
    assert identify_tagset(list(wanted)) == name
    assert tag_code(name, "no such tag") in (None, CODES["X"])


@pytest.mark.parametrize("columns", ["word,tag,lemma", "word,lemma,tag"])
def test_vertical_text(columns, tmp_path, write):
    rows = [("The", "DT", "the"), ("saws", "NNS", "saw"), ("saw", "VVD", "see"), ("him", "PP", "him")]
    if columns == "word,lemma,tag":
        rows = [(form, lemma, tag) for form, tag, lemma in rows]
    corpus = build(write("a.vert", vertical(*rows)), tmp_path / "s", columns=columns)
    assert tags_of(corpus) == [("The", "DET"), ("saws", "NOUN"), ("saw", "VERB"), ("him", "PRON")]
    assert corpus.tags == {"DET": 1, "NOUN": 1, "PRON": 1, "VERB": 1}
    assert corpus.tagsets == ["TreeTagger English"]


@pytest.mark.parametrize(("upos", "name"), [(("NOUN", "VERB"), "UD"), (("_", "_"), "Penn")])
def test_conllu_has_universal_tags_or_its_own(upos, name, tmp_path, write):
    rest = "\t_" * 5 + "\n"
    text = f"1\tsaw\tsaw\t{upos[0]}\tNN{rest}2\truns\trun\t{upos[1]}\tVBZ{rest}\n"
    corpus = build(write("a.conllu", text), tmp_path / "s")
    assert tags_of(corpus) == [("saw", "NOUN"), ("runs", "VERB")]
    assert corpus.tagsets == [name]


# As `CoNLL.write_doc2conll` of Stanza 1.15.0 wrote it: spaces, offsets and entities in MISC, a contraction in two.
STANZA = """\
# text = They don't saw it.
# sent_id = 0
1	They	they	PRON	PRP	Case=Nom|Number=Plur|Person=3	4	nsubj	_	start_char=0|end_char=4|ner=O
2-3	don't	_	_	_	_	_	_	_	start_char=5|end_char=10|ner=O
2	do	do	AUX	VBP	Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin	4	aux	_	start_char=5|end_char=7
3	n't	not	PART	RB	_	4	advmod	_	start_char=7|end_char=10
4	saw	saw	VERB	VB	VerbForm=Inf	0	root	_	start_char=11|end_char=14|ner=O
5	it	it	PRON	PRP	Case=Acc|Number=Sing	4	obj	_	SpaceAfter=No|start_char=15|end_char=17|ner=O
6	.	.	PUNCT	.	_	4	punct	_	SpacesAfter=\\n|start_char=17|end_char=18|ner=O

# text = The saw cut.
# sent_id = 1
1	The	the	DET	DT	Definite=Def|PronType=Art	2	det	_	start_char=19|end_char=22|ner=O
2	saw	saw	NOUN	NN	Number=Sing	0	root	_	SpaceAfter=No|start_char=23|end_char=26|ner=O

"""


def test_what_stanza_writes(tmp_path, write):
    corpus = build(write("stanza.conllu", STANZA), tmp_path / "s")
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
    assert "no known tagset" in " ".join(done.err.split()) and "--tagset" in done.err
    corpus = Corpus.open(tmp_path / "s")
    assert (corpus.tags, corpus.tagsets) == ({"X": 2}, ["unknown"])
    assert json.loads(cli("info", tmp_path / "s", "--json").out)["tagsets"] == ["unknown"]


def test_the_tagset_can_be_named(tmp_path, write, cli):
    source = write("a.vert", vertical(("Haus", "NN", "Haus"), ("ist", "NE", "sein")))
    corpus = build(source, tmp_path / "s", tagset="STTS")
    assert corpus.tags == {"NOUN": 1, "PROPN": 1}
    done = cli("index", source, "--out", tmp_path / "t", "--tagset", "Pen")
    assert done.code == 2 and "Penn" in done.err
    with pytest.raises(UsageError, match="--tagset nothing is unknown"):
        identify_tagset(["NN"], "nothing")
