"""Attributes of documents, conditions on them, and the subcorpora that these select."""

import json
import math
import random
from datetime import date, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_oracle import build, sentences
from tests.conftest import samples

from bagpack import Basis, Corpus, PairVectorizer, index_corpus
from bagpack.contexts.targets import usual_keys
from bagpack.corpus import subcorpus
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.attributes import add_metadata, scalar_attributes
from bagpack.corpus.readers.look import look
from bagpack.corpus.subcorpus import open_corpus
from bagpack.corpus.where import Where
from bagpack.corpus.words import complete, tag_counts
from bagpack.engines.build import corpus_sentences
from bagpack.errors import InputError, UsageError
from bagpack.sheets import write_table


def attributes_of(corpus):
    """Id and attributes of every document."""
    found = {}
    for segment in corpus.segments:
        own = [segment.documents[number] for number in segment.own_documents.tolist()]
        columns = [(name, *segment.attributes.column(name)) for name in segment.attributes.names]
        for number, document in zip(segment.own_documents, own, strict=True):
            found[document] = {
                name: texts[places[number]] for name, places, texts in columns if places[number]
            }
    return found


DOCUMENTS = {
    "a": {"year": "1850", "genre": "fiction"},
    "b": {"year": "1900", "genre": "news", "author": "A. B."},
    "c": {"year": "1950.5", "genre": "Fiction"},
    "d": {"year": "about 1900", "genre": "news"},
    "e": {},
}


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    place = tmp_path_factory.mktemp("documents")
    lines = [json.dumps({"id": name, "text": f"Word {name}.", **own}) for name, own in DOCUMENTS.items()]
    (place / "a.jsonl").write_text("\n".join(lines) + "\n")
    return build(place / "a.jsonl", place / "s")


@pytest.mark.parametrize(("condition", "expected"), samples("corpus/data/conditions.jsonl"))
def test_conditions(condition, expected, documents):
    (segment,) = documents.segments
    chosen = Where(condition).documents(segment)
    found = [name.decode() for name, own in zip(segment.documents, chosen, strict=True) if own]
    assert "".join(found) == expected


@pytest.mark.parametrize(("condition", "at", "problem"), samples("corpus/data/wrong_conditions.jsonl"))
def test_errors_show_the_place(condition, at, problem, documents):
    """Where Python's parser says that it is; null where its versions differ."""
    with pytest.raises(UsageError) as raised:
        documents.where(condition)
    message, shown, caret = str(raised.value).split("\n")
    assert shown == f"  {condition}"
    assert caret.strip() == "^" and at in (None, caret.index("^") - 2)
    assert message.startswith("--where: ") and problem in message


def test_any_name_of_an_attribute_can_be_asked_for(tmp_path, write):
    names = ["page#", "xml:id", "pub-date", "class", "lambda", "é"]
    lines = [json.dumps({"text": "Lions sleep.", **dict.fromkeys(names, year)}) for year in (1, 2, 3)]
    corpus = build(write("a.jsonl", "\n".join(lines) + "\n"), tmp_path / "s")
    for name in names:
        assert corpus.where(f"{name} >= 2").documents == corpus.where(f"{name} != 2").documents == 2
        assert corpus.where(f"not {name} = 2 and {name} in (1, 2)").documents == 1


def test_conditions_of_any_depth_and_length_are_answered(documents):
    for condition in ("(" * 900 + "year" + ")" * 900, "not " * 60 + "year", "year or " * 5000 + "year", " "):
        with pytest.raises(UsageError, match=r"nested|characters"):
            Where(condition)


def test_vertical_text_across_slices(tmp_path, write):
    """A worker that begins in the middle of a document knows its attributes."""
    tag = '<text id="{}" Genre="{}" year=\'{}\'>\n' + "<s>\nlion\tNN\tlion\n</s>\n" * 200 + "</text>\n"
    genres = ["R&D", "news"] * 3
    tags = (tag.format(n, genre.replace("&", "&amp;"), 1900 + n) for n, genre in enumerate(genres))
    source = write("a.vert", "".join(tags))
    about = str(write("about.tsv", "file\tpart\tyear\na.vert\tA\t1\n"))  # the year of the tag is used
    expected = {str(n): {"genre": own, "year": str(1900 + n), "part": "A"} for n, own in enumerate(genres)}
    for part_bytes in (None, 2000):
        corpus = build(source, tmp_path / "s", part_bytes=part_bytes, metadata=about)
        assert attributes_of(corpus) == expected
        assert corpus.where("part == A and year > 1899").tokens == corpus.tokens
        assert corpus.attributes["genre"] == {"news": 3, "R&D": 3}  # those of several segments once
        assert corpus.where("genre == 'R&D'").documents == 3
        assert corpus.where("year == 1903").tokens == 200
    assert len(corpus.segments) > 6


def test_attributes_of_a_record():
    record = {
        "": "x", " A  b": 1.5, "c\0": "\x1b[1m\0d", "half\ud800": "\ud800 x", "inf": math.inf, "list": [1], "n": 10**20
    }  # fmt: skip
    found = {"a_b": "1.5", "c_": "[1m d", "half?": "? x", "n": "100000000000000000000"}
    assert dict(scalar_attributes(record)) == found


def test_json_lines_and_parquet(tmp_path, write):
    names = ("id", "text", "Year", "genre", "rate", "good", "Date Of", "tags", "more")
    values = [
        ("a", "Lions.", 1900, "news", 0.5, True, "x", ["x"], {"x": 1}),
        ("b", "Cats.", None, "", 2.0, False, "y" * 300, ["x"], {"x": 1}),
    ]
    rows = [dict(zip(names, own, strict=True)) for own in values]
    expected = {
        "a": {"year": "1900", "genre": "news", "rate": "0.5", "good": "true", "date_of": "x"},
        "b": {"rate": "2", "good": "false"},
    }
    corpus = build(write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows)), tmp_path / "s")
    assert attributes_of(corpus) == expected
    more = {"day": date(2026, 11, 16), "at": datetime(2026, 11, 16, 12), "length": timedelta(1), "held": b"x"}
    pq.write_table(pa.Table.from_pylist([row | more for row in rows]), tmp_path / "a.parquet")
    dated = {"day": "2026-11-16", "at": "2026-11-16 12:00:00"}
    found = attributes_of(build(tmp_path / "a.parquet", tmp_path / "t"))
    assert found == {name: own | dated for name, own in expected.items()}


TABLES = {
    "file\tyear\nz\t1\n": "4 files", "file\n": "about.tsv", "file\tyear\n\t1\n": "about.tsv:2",
    "file\tyear\na.txt\n": "about.tsv:2", "file\tyear\na.txt\t1\n\na.txt\t2\n": "about.tsv:4",
    'file,year\na.txt,"1\n' + "b.txt,2\n" * 20_000: "about.tsv:2", "file\tyear\n\na.txt\t1\0\n": "about.tsv:3",
}  # fmt: skip


def test_a_table_describes_files(tmp_path, write):
    for name in ("a.txt", "b.txt", "more/c.txt", "d.txt"):
        write(f"texts/{name}", f"Lions of {name} sleep.\n")
    rows = "file\tyear\tgenre\na.txt\t1900\tnews\nb\t1950\t\ntexts/more/c.txt\t2000\tnews\nx.txt\t1\t2\n"
    corpus = build(tmp_path / "texts", tmp_path / "s", metadata=str(write("about.tsv", rows)))
    assert list(attributes_of(corpus).values()) == [
        {"year": "1900", "genre": "news"}, {"year": "1950"}, {}, {"year": "2000", "genre": "news"},
    ]  # fmt: skip
    assert corpus.where("genre == news").documents == 2
    for table, problem in TABLES.items():
        with pytest.raises(InputError, match=problem):
            build(tmp_path / "texts", tmp_path / "t", metadata=str(write("about.tsv", table)))
    with pytest.raises(InputError, match="/dev/zero"):
        build(tmp_path / "texts", tmp_path / "t", metadata="/dev/zero")


def test_cells_of_a_table_may_have_any_character(tmp_path, write):
    source = look(str(write("a.txt", "Lions sleep.\n")), TextOptions())
    table = write("about.csv", '\ufeffTitle,File Name,path\n"A,\nB\u2028C\fD",x.txt,a.txt \n')
    (found,) = add_metadata([source], str(table))
    assert found.attributes == (("title", "A, B C D"), ("file_name", "x.txt"))
    write("about.tsv", f'text\ttitle\n\t\n\t\n{source.path}\t"Emma" I\n')  # the first column, empty rows
    write_table(tmp_path / "about.xlsx", [["file", "title"], ["a.txt", '"Emma" I']])
    for name in ("about.tsv", "about.xlsx"):
        (found,) = add_metadata([source], str(tmp_path / name))
        assert found.attributes == (("title", '"Emma" I'),)


def test_an_append_does_not_need_the_metadata_of_the_first_build(tmp_path, write):
    table = write("files.tsv", "file\tgenre\na.txt\tnews\n")
    build(write("a.txt", "Lions sleep.\n"), tmp_path / "s", metadata=str(table))
    table.unlink()
    corpus = index_corpus([write("b.txt", "Cats hunt.\n")], tmp_path / "s", {}, append=True, jobs=1).corpus
    assert corpus.documents == 2
    assert corpus.where("genre == news").documents == 1


def test_attributes_cost_what_documents_have_of_them(tmp_path, write):
    lines = "".join(json.dumps({"text": "Lions sleep.", f"key{n % 900}": n}) + "\n" for n in range(8000))
    corpus = build(write("a.jsonl", lines), tmp_path / "s")
    assert corpus.info()["bytes"] < 2_000_000  # a table of documents and names had 256 MB
    assert corpus.where("key7 == 907").documents == 1
    assert len(corpus.attribute_names) == 900
    many = "".join(json.dumps({"text": "Lions sleep.", f"key{n}": n}) + "\n" for n in range(1100))
    tag = "<text " + " ".join(f'a{n}="x"' for n in range(100_000)) + ">\n<s>\na\tN\ta\n</s>\n</text>\n"
    for name, content in (("b.jsonl", many), ("c.vert", tag)):
        with pytest.raises(InputError, match="1,000"):
            build(write(name, content), tmp_path / "t")


COMMON = ["a/NN", "b/NN", "b/VV", "c/JJ", "d/IN", "e/DT", ",/,"]
RARE = [f"w{number}/NN" for number in range(40)]


def random_documents(seed):
    rng = random.Random(seed)
    made = []
    for number in range(40):
        about = f'id="d{number}" year="{1900 + rng.randrange(10)}" genre="{rng.choice("xyz")}"'
        lines = [f"<text {about}>"]
        for _ in range(rng.randrange(6)):
            tokens = [rng.choice([*COMMON, *COMMON, *RARE]) for _ in range(rng.randrange(1, 12))]
            rows = [
                f"{rng.choice([word.upper(), 'Form', 'FORM'])}\t{tag}\t{word}"
                for word, _, tag in (token.partition("/") for token in tokens)
            ]
            lines += ["<s>", *rows, "</s>"]
        made.append("\n".join([*lines, "</text>", ""]))
    return made


@pytest.mark.parametrize(
    "condition", ["year >= 1905", "genre == x", "genre != x and year < 1903", "not genre == y", "id == d7", "genre"]
)  # fmt: skip
@pytest.mark.parametrize("punctuation", ["keep", "drop"])
def test_a_subcorpus_is_what_an_index_of_its_documents_alone_is(
    condition, punctuation, tmp_path, monkeypatch
):
    if punctuation == "drop":
        for few in ("FEW_POSITIONS", "FEW"):  # the kernels select positions, as in a large corpus
            monkeypatch.setattr(subcorpus, few, 0)
    texts = random_documents(condition)
    options = TextOptions(punctuation=punctuation)
    for part, cut in enumerate([(0, 15), (15, 20), (20, 40)]):
        (tmp_path / f"{part}.vert").write_text("".join(texts[slice(*cut)]))
        index_corpus([str(tmp_path / f"{part}.vert")], tmp_path / "s", options, append=part > 0)
    whole = Corpus.open(tmp_path / "s")
    chosen = set()
    for segment in whole.segments:
        mask = Where(condition).documents(segment)
        chosen |= {name.decode() for name, own in zip(segment.documents, mask, strict=True) if own}
    (tmp_path / "alone.vert").write_text("".join(text for text in texts if text.split('"')[1] in chosen))
    alone = build(tmp_path / "alone.vert", tmp_path / "alone", punctuation=punctuation)
    part = whole.where(condition)

    assert part.verify() == []
    assert sentences(part) == sentences(alone)
    assert list(corpus_sentences(part)) == list(corpus_sentences(alone))
    for name in ("tokens", "sentences", "types", "documents", "tags"):
        assert getattr(part, name) == getattr(alone, name), name
    assert attributes_of(part) == attributes_of(alone)
    assert part.attributes == alone.attributes and part.attribute_names == alone.attribute_names
    counts = [dict(zip(own.lexicon.keys, own.lexicon.counts, strict=True)) for own in (part, alone)]
    assert {key: count for key, count in counts[0].items() if count} == counts[1]
    words = ["form", "a", "b", *(word.partition("/")[0] for word in RARE), "unknown"]
    assert part.keys_of(words) == alone.keys_of(words)
    assert usual_keys(part, words) == usual_keys(alone, words)
    for start in ("a", "b", "w", "form"):
        assert complete(part, start) == complete(alone, start)
    for most in (None, 3):
        tags = [tag_counts(own, own.lexicon.keys.find(["a", "b"]), most).tolist() for own in (part, alone)]
        assert tags[0] == tags[1]
    for b in (5, 1000):
        assert Basis.of(part, b).to_tsv() == Basis.of(alone, b).to_tsv()
    pairs = [("a", "b"), ("b/VERB", "c"), ("a", "a"), ("d e", "a"), *(("a", word) for word in words)]
    for few, settings in ((4, {}), (None, {}), (None, {"limit": 3})):
        rows = [PairVectorizer(own, b=5, **settings).fit_transform(pairs[:few]) for own in (part, alone)]
        assert (rows[0] != rows[1]).nnz == 0
    lines = [[line.to_dict() for line in own.contexts("a", "b")] for own in (part, alone)]
    assert lines[0] == lines[1]


def test_a_document_that_begins_within_a_sentence(tmp_path, write):
    """The comment should be before a sentence; what is before it is not part of the document."""
    line = "{0}\t{1}\t{1}\tNOUN\tNN\t_\t0\troot\t_\t_\n"
    text = "# newdoc id = x\n" + line.format(1, "a") + "# newdoc id = y\n" + line.format(2, "b")
    part = build(write("a.conllu", text), tmp_path / "s").where("id == y")
    assert (part.sentences, sentences(part)) == (1, [("y", [("b", "b", False)])])


def test_a_subcorpus_has_the_attributes_of_its_documents(documents):
    with pytest.raises(UsageError, match="'author'"):
        documents.where("id in (a, e)").where("author")
    nested = documents.where("year >= 1900").where("genre == news or genre == fiction")
    assert nested.documents == 1 and open_corpus(nested.name) == nested


@pytest.fixture
def tagged(write, tmp_path):
    """A corpus, next to labelled pairs."""
    write("d.tsv", "w1\tw2\tlabel\na\tb\tx\nb\tc\ty\nc\td\tx\nd\te\ty\n")
    return build(write("a.vert", "".join(random_documents(1))), tmp_path / "s")


def test_commands_take_a_condition(tagged, tmp_path, cli):
    data = str(tmp_path / "d.tsv")
    where = ("--where", "genre == x")
    part = tagged.where("genre == x")
    assert cli("vectors", tagged.path, data, "--out", tmp_path / "m", *where).code == 0
    matrix = json.loads(cli("info", tmp_path / "m", "--json").out)
    assert matrix["source"] == {"path": f"{tagged.path} where genre == x", "content_hash": part.content_hash}
    built = cli("engine", "build", tmp_path / "index", part.name, "--json")
    assert json.loads(built.out)["sentences"] == part.sentences
    refused = cli("serve", tagged.path, "--where", "nothing > 1")
    assert refused.code == 2 and "'nothing'" in refused.err
    # A model of a subcorpus finds it again.
    given = ("--out", tmp_path / "model", "--where", "year > 1904", "--no-scores", "--quiet")
    assert cli("train", tagged.path, data, *given).code == 0
    found = cli("predict", tmp_path / "model", data)
    together = [int(line.split("\t")[6]) for line in found.out.splitlines()[1:]]
    part = tagged.where("year > 1904")
    assert together == [part.contexts(*pair).total for pair in ("ab", "bc", "cd", "de")]
    assert together != [tagged.contexts(*pair).total for pair in ("ab", "bc", "cd", "de")]
