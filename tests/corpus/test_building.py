"""The same store for any number of workers, any block size; slices of one large file; appends."""

import gzip
import json
import random
import sys
import threading

import pytest
from corpus_oracle import build, files_of, read_conllu, read_vertical, sentences, words

from bagpack import Corpus, index_corpus
from bagpack.corpus.build import worker
from bagpack.corpus.build.plan import make_plan
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers import files as io
from bagpack.errors import InputError, StoreError
from bagpack.parallel import delayed, run_until

RANDOM = random.Random(5)
WORDS = [f"w{int(RANDOM.paretovariate(0.8)) % 400}" for _ in range(6000)]
WORDS += ["Löwen", "&amp;", "naïve", "<", "Ok"]


def drawn(documents, longest):
    """Sentences of some documents, the same whatever was drawn before."""
    RANDOM.seed(documents)
    numbers = [[RANDOM.randint(1, longest) for _ in range(RANDOM.randint(1, 12))] for _ in range(documents)]
    return [[RANDOM.choices(WORDS, k=number) for number in own] for own in numbers]


def vertical(documents=40, tagged=True):
    lines = []
    for number, document in enumerate(drawn(documents, 20)):
        lines += [f'<text id="d{number}">'] * tagged
        for own in document:
            lines += ["<s>", *(f"{word}\tX\t{word.lower()}" for word in own), "</s>"]
        lines += ["</text>"] * tagged
    return "\n".join(lines) + "\n"


def conllu(documents=30, tagged=True):
    lines = []
    for number, document in enumerate(drawn(documents, 15)):
        lines += [f"# newdoc id = d{number}"] * tagged
        for own in document:
            lines += [f"{i}\t{word}\t{word.lower()}" + "\t_" * 7 for i, word in enumerate(own, 1)]
            lines.append("")
    return "\n".join(lines) + "\n"


def prose(paragraphs=300):
    RANDOM.seed(paragraphs)
    return "\n".join(
        " ".join(" ".join(RANDOM.choices(WORDS, k=8)).capitalize() + "." for _ in range(RANDOM.randint(1, 9)))
        for _ in range(paragraphs)
    )


def jsonl(paragraphs=200):
    rows = prose(paragraphs).split("\n")
    return "".join(f'{{"id": "j{i}", "text": "{line}"}}\n' for i, line in enumerate(rows))


@pytest.fixture
def corpus_files(write):
    made = {"a.vert": vertical(), "b.conllu": conllu(), "c.txt": prose(), "d.jsonl": jsonl()}
    made["e.vert.gz"] = gzip.compress(vertical(80).encode())
    return [write(name, data) for name, data in made.items()]


def test_the_bytes_do_not_depend_on_workers_or_threads(tmp_path, corpus_files, monkeypatch):
    """Token lines alone are read by threads of one process."""
    token_lines = [name for name in corpus_files if "vert" in name.name or "conllu" in name.name]
    for name, given, jobs in (("s", corpus_files, 2), ("t", token_lines, 3)):
        expected = files_of(build(given, tmp_path / name, part_bytes=6_000).path)
        if given is token_lines:
            monkeypatch.setattr(worker, "run", lambda *_: pytest.fail("processes were started"))
        corpus = build(given, tmp_path / f"{name}{jobs}", jobs=jobs, part_bytes=6_000)
        assert files_of(corpus.path) == expected
        assert len(corpus.segments) > 10


def test_an_error_in_a_thread_stops_the_others(tmp_path, write):
    source = write("a.vert", "<s>\na\tX\ta\nbad\n</s>\n" + vertical(300))
    before = threading.active_count()
    with pytest.raises(InputError, match=r"a\.vert:3 "):
        index_corpus([str(source)], tmp_path / "s", jobs=2, part_bytes=8_000)
    assert threading.active_count() == before
    assert len(list(tmp_path.glob("s/segments/*.json"))) < 10  # of about fifty


def test_threads_have_ended_when_one_is_interrupted(write, tmp_path):
    """Others see that they are to stop, and those that have not begun never do."""
    ended, stop = [], threading.Event()

    def wait(number):
        if number == 1:
            raise KeyboardInterrupt
        assert stop.wait(10), "nothing stopped the thread"
        ended.append(number)

    with pytest.raises(KeyboardInterrupt):
        run_until(stop, [delayed(wait)(number) for number in range(4)], 2)
    assert 0 in ended and 3 not in ended
    plan = make_plan([str(write("a.txt", "Lions sleep.\n"))], TextOptions())
    with pytest.raises(StoreError, match="aborted"):
        worker.Worker(tmp_path, plan.parts[0], plan, stop).run()


def test_the_bytes_do_not_depend_on_the_block_size(tmp_path, corpus_files, monkeypatch):
    expected = files_of(build(corpus_files[:4], tmp_path / "s", part_bytes=20_000).path)
    for block in (600, 7_777, 1 << 16):
        monkeypatch.setattr(io, "BLOCK", block)
        assert files_of(build(corpus_files[:4], tmp_path / str(block), part_bytes=20_000).path) == expected


@pytest.mark.parametrize("tagged", [True, False])
@pytest.mark.parametrize(("part_bytes", "newline"), [(300, "\r\n"), (2_000, "\n")])
def test_slices_of_one_large_file_hold_the_same_sentences(part_bytes, tagged, newline, tmp_path, write):
    for name, text, oracle in [
        ("a.vert", vertical(12, tagged), read_vertical),
        ("a.conllu", conllu(9, tagged), read_conllu),
    ]:
        text = text.replace("\n", newline)
        source = write(name, text)
        assert len(make_plan([str(source)], TextOptions(), part_bytes).parts) > 1
        corpus = build(source, tmp_path / "s", part_bytes=part_bytes, columns="word,tag,lemma")
        assert sentences(corpus) == oracle(text, str(source))
        assert corpus.documents == (len({document for document, _ in sentences(corpus)}) if tagged else 1)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.vert.gz", "a.conllu.gz", "a.jsonl"])
def test_a_long_file_becomes_several_segments_cut_between_sentences(name, tmp_path, write, monkeypatch):
    """A text stays one document; the documents of JSON lines are named by line."""
    monkeypatch.setattr(io, "BLOCK", 2_000)
    kind = name.split(".")[1]
    text = {"txt": prose, "vert": vertical, "conllu": conllu, "jsonl": jsonl}[kind]().replace('"id"', '"key"')
    source = write(name, gzip.compress(text.encode()) if name.endswith("gz") else text)
    corpus = build(source, tmp_path / "s", part_bytes=3_000)
    assert len(corpus.segments) > 3
    if kind in ("vert", "conllu"):
        assert sentences(corpus) == {"vert": read_vertical, "conllu": read_conllu}[kind](text, str(source))
    else:
        assert words(corpus) == words(build(write(f"whole.{kind}", text), tmp_path / "t"))
        found = list(dict.fromkeys(document for document, _ in sentences(corpus)))
        lines = text.count("\n")
        assert found == ([f"{source}:{n + 1}" for n in range(lines)] if kind == "jsonl" else [str(source)])


def test_a_sentence_is_not_cut_when_a_segment_is_full(tmp_path, write, monkeypatch):
    """A sentence of token lines that goes on in the next block."""
    monkeypatch.setattr(io, "BLOCK", 400)
    long = "<s>\n" + "".join(f"w{n}\tN\tw{n}\n" for n in range(200)) + "</s>\n"
    corpus = build(write("a.vert", long * 3), tmp_path / "s", part_bytes=600, max_line=500)
    assert [len(line) for line in words(corpus)] == [200, 200, 200]


def test_standard_input_is_read_once_and_sliced(tmp_path, write, cli):
    text = prose()
    expected = words(build(write("a.txt", text), tmp_path / "s"))
    for out, data in (("t", text.encode()), ("u", gzip.compress(text.encode()))):
        assert cli("index", "-", "--out", tmp_path / out, stdin=data).code == 0
        corpus = Corpus.open(tmp_path / out)
        assert words(corpus) == expected
        assert {document for document, _ in sentences(corpus)} == {"stdin"}
        left = {path.name for path in (tmp_path / out).iterdir()} - {corpus.manifest["lexicon"]["directory"]}
        assert left == {".bagpack-lock", "manifest.json", "segments"}
    lines = "".join(json.dumps({"text": "Lions sleep. " * size}) + "\n" for size in (9000, 1))
    # Its first line is long.
    assert cli("index", "-", "--out", tmp_path / "j", stdin=lines.encode()).code == 0
    assert Corpus.open(tmp_path / "j").tokens == 9001 * 3


def test_append_puts_the_new_sentences_behind_the_old_ones(tmp_path, corpus_files):
    first, second, third, *_ = corpus_files
    together = build([first, second, third], tmp_path / "all")
    build(first, tmp_path / "s", part_bytes=9_000)
    for source in (second, third):
        corpus = index_corpus([str(source)], tmp_path / "s", append=True, jobs=1, part_bytes=9_000).corpus
    assert sentences(corpus) == sentences(together)
    for name in ("tokens", "documents", "types"):
        assert getattr(corpus, name) == getattr(together, name)
    assert list(corpus.lexicon.keys) == list(together.lexicon.keys)
    assert corpus.lexicon.counts.tolist() == together.lexicon.counts.tolist()
    assert [s["path"] for s in corpus.manifest["sources"]] == [str(first), str(second), str(third)]
    assert corpus.verify() == []
    before = files_of(corpus.path)
    bad = corpus_files[0].with_name("bad.vert")
    bad.write_text("<s>\n" + "a\tb\tc\n" * 9 + "x\ty\n</s>\n")
    with pytest.raises(InputError, match=r"bad\.vert:11 "):
        index_corpus([str(bad)], corpus.path, append=True, jobs=1)
    assert files_of(corpus.path) == before


def test_a_wrong_resume_does_not_destroy_the_unfinished_build(tmp_path, write):
    source, bad = write("a.vert", vertical(9)), write("b.vert", "<s>\na\tX\ta\nbad\n</s>\n")
    out = tmp_path / "s"
    with pytest.raises(InputError, match=r"b\.vert:3 .*--resume"):
        index_corpus([source, bad], out, jobs=1, part_bytes=500)
    before = files_of(out)
    for error, advice, sources, options, how in (
        (InputError, r"typo\.txt", [tmp_path / "typo.txt"], {}, {"resume": True}),
        (StoreError, "begun .*--overwrite", [source, bad], {"level": "form"}, {"resume": True, "part_bytes": 500}),
        (StoreError, "--resume.*--overwrite", [source], {}, {}),
    ):  # fmt: skip
        with pytest.raises(error, match=advice):
            index_corpus(list(map(str, sources)), out, options, jobs=1, **how)
    with pytest.raises(StoreError, match="--resume"):
        Corpus.open(out)
    assert files_of(out) == before
    index_corpus([source], out, jobs=1, overwrite=True)
    assert words(Corpus.open(out)) == words(build(source, tmp_path / "t"))
    assert not list(out.glob("work"))


def test_every_token_dropped_is_no_sentence(tmp_path, write):
    with pytest.raises(InputError, match="--format"):
        build(write("a.txt", "... !!! --\n"), tmp_path / "s", punctuation="drop")
    assert not (tmp_path / "s").exists()
    corpus = build(
        [tmp_path / "a.txt", write("b.txt", "Yes.\n")], tmp_path / "s", punctuation="drop", part_bytes=5
    )
    assert words(corpus) == [["Yes"]]
    assert corpus.verify() == []


def test_relative_paths_when_the_workers_were_started_in_another_directory(tmp_path, monkeypatch):
    for name in ("a", "b"):  # the second build reuses the workers of the first
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        for n in range(3):
            (tmp_path / name / f"{n}.txt").write_text("Lions sleep.\n" * 5)
        assert index_corpus(["0.txt", "1.txt", "2.txt"], "s", jobs=2, part_bytes=40).corpus.tokens == 45


def test_a_small_file_is_opened_once_for_looking(write):
    """And once more for reading: 20,000 of them are a matter of seconds."""
    opened = []
    paths = {str(write("a.txt", "Lions sleep.\n")), str(write("b.vert", "<s>\nx\tN\tx\n</s>\n"))}
    sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" else None)
    make_plan(sorted(paths), TextOptions())
    assert sorted(path for path in opened if path in paths) == sorted(paths)


def test_many_files_are_looked_at_in_workers(tmp_path, write, monkeypatch):
    for number in range(12):
        write(f"c/{number}.txt", f"Lion {number} sleeps.\n")
    write("c/empty.txt", "")
    here = make_plan([str(tmp_path / "c")], TextOptions())
    monkeypatch.setattr("bagpack.corpus.build.plan.MANY_FILES", 5)
    monkeypatch.setattr("bagpack.corpus.build.plan.LOOKS", 4)
    assert make_plan([str(tmp_path / "c")], TextOptions(), jobs=2) == here
    with pytest.raises(InputError, match=r"empty\.txt "):
        make_plan([str(path) for path in (tmp_path / "c").iterdir()], TextOptions(), jobs=2)


PLACES = {
    "a.txt": ("One.\n" * 9 + "word " * 30 + "\n", ":10 has .* 30 tokens, more than 20; .* --max-sentence"),
    "a.jsonl": ('{"text": "One."}\n{"text": "' + "word " * 30 + '"}\n', ":2 .*30.*--max-sentence"),
    "a.vert": ("<s>\n" + "x\tN\tx\n" * 30 + "</s>\n", ":22 .*20.*--max-sentence"),
    "a.conllu": (b"# newdoc id = \xff\n1\tx\tx" + b"\t_" * 7 + b"\n\n", ":1 .*0xff"),
}


@pytest.mark.parametrize("name", PLACES)
def test_errors_carry_their_place(name, write, tmp_path):
    """Also those that are found when the tokens are added to a segment."""
    text, place = PLACES[name]
    with pytest.raises(InputError, match=name + place):
        build(write(name, text), tmp_path / "s", max_sentence=20)
