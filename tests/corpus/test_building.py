"""The same store for any number of workers, any block size; slices of one large file; appends."""

import gzip
import random
import threading

import pytest
from corpus_oracle import build, files_of, read_conllu, read_vertical, sentences, words

from bagpack.corpus.build import worker
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.build.plan import make_plan
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers import files as io
from bagpack.errors import InputError, StoreError

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


def jsonl():
    return "".join(f'{{"id": "j{i}", "text": "{line}"}}\n' for i, line in enumerate(prose(200).split("\n")))


@pytest.fixture
def corpus_files(write):
    made = {"a.vert": vertical(), "b.conllu": conllu(), "c.txt": prose(), "d.jsonl": jsonl()}
    made["e.vert.gz"] = gzip.compress(vertical(80).encode())
    return [write(name, data) for name, data in made.items()]


def test_the_bytes_do_not_depend_on_the_number_of_workers(tmp_path, corpus_files):
    stores = []
    for jobs in (1, 2, 3):
        corpus = build(corpus_files, tmp_path / f"s{jobs}", jobs=jobs, part_bytes=6_000)
        stores.append(files_of(corpus.path))
    assert len(corpus.segments) > 12
    assert stores[0] == stores[1] == stores[2]


def test_the_bytes_are_the_same_when_workers_are_threads(tmp_path, corpus_files, monkeypatch):
    token_lines = [name for name in corpus_files if "vert" in name.name or "conllu" in name.name]
    expected = files_of(build(token_lines, tmp_path / "s", part_bytes=6_000).path)
    monkeypatch.setattr(worker, "run", lambda *_: pytest.fail("processes were started"))
    assert files_of(build(token_lines, tmp_path / "t", jobs=3, part_bytes=6_000).path) == expected


def test_an_error_in_a_thread_stops_the_others(tmp_path, write):
    source = write("a.vert", "<s>\na\tX\ta\nbad\n</s>\n" + vertical(300))
    before = threading.active_count()
    with pytest.raises(InputError, match=r"a\.vert:3 is not a line of"):
        index_corpus([str(source)], tmp_path / "s", jobs=2, part_bytes=8_000)
    assert threading.active_count() == before
    assert len(list(tmp_path.glob("s/segments/*.json"))) < 10  # of about fifty


@pytest.mark.parametrize("block", [600, 7_777, 1 << 16])
def test_the_bytes_do_not_depend_on_the_block_size(block, tmp_path, corpus_files, monkeypatch):
    expected = files_of(build(corpus_files[:4], tmp_path / "s", part_bytes=20_000).path)
    monkeypatch.setattr(io, "BLOCK", block)
    assert files_of(build(corpus_files[:4], tmp_path / "t", part_bytes=20_000).path) == expected


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("tagged", [True, False])
@pytest.mark.parametrize("part_bytes", [300, 2_000, 30_000])
def test_slices_of_one_large_file_hold_the_same_sentences(part_bytes, tagged, newline, tmp_path, write):
    for name, text, oracle in [
        ("a.vert", vertical(12, tagged), read_vertical),
        ("a.conllu", conllu(9, tagged), read_conllu),
    ]:
        text = text.replace("\n", newline)
        source = write(name, text)
        plan = make_plan([str(source)], TextOptions(), part_bytes)
        corpus = build(source, tmp_path / "s", part_bytes=part_bytes, columns="word,tag,lemma")
        assert len(plan.parts) > 1 or part_bytes == 30_000
        assert sentences(corpus) == oracle(text, str(source))
        assert corpus.documents == (len({document for document, _ in sentences(corpus)}) if tagged else 1)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_text_in_slices_is_one_document(suffix, tmp_path, write, monkeypatch):
    monkeypatch.setattr(io, "BLOCK", 10_000)
    text = prose()
    whole = build(write("a.txt", text), tmp_path / "s")
    data = gzip.compress(text.encode()) if suffix else text
    corpus = build(write("b/a.txt" + suffix, data), tmp_path / "t", part_bytes=3_000)
    assert words(corpus) == words(whole)
    assert corpus.documents == 1
    assert len(corpus.segments) > (1 if suffix else 5)


@pytest.mark.parametrize("name", ["a.vert.gz", "a.conllu.gz"])
def test_a_long_compressed_file_becomes_several_segments_cut_between_sentences(
    name, tmp_path, write, monkeypatch
):
    monkeypatch.setattr(io, "BLOCK", 2_000)
    text, oracle = (vertical(40), read_vertical) if "vert" in name else (conllu(40), read_conllu)
    source = write(name, gzip.compress(text.encode()))
    corpus = build(source, tmp_path / "s", part_bytes=3_000)
    assert len(corpus.segments) > 3
    assert sentences(corpus) == oracle(text, str(source))


def test_json_lines_in_slices_name_documents_by_line(tmp_path, write):
    source = write("a.jsonl", "".join(f'{{"text": "Lion number {i}."}}\n' for i in range(300)))
    corpus = build(source, tmp_path / "s", part_bytes=1_000)
    assert [document for document, _ in sentences(corpus)] == [f"{source}:{i + 1}" for i in range(300)]


def test_standard_input_is_read_once_and_sliced(tmp_path, write, cli):
    text = prose()
    expected = words(build(write("a.txt", text), tmp_path / "s"))
    done = cli("index", "-", "--out", tmp_path / "t", stdin=text.encode())
    assert done.code == 0
    corpus = Corpus.open(tmp_path / "t")
    assert words(corpus) == expected
    assert {document for document, _ in sentences(corpus)} == {"stdin"}
    left = {path.name for path in (tmp_path / "t").iterdir()} - {corpus.manifest["lexicon"]["directory"]}
    assert left == {".bagpack-lock", "manifest.json", "segments"}
    packed = cli("index", "-", "--out", tmp_path / "u", stdin=gzip.compress(text.encode()))
    assert packed.code == 0
    assert words(Corpus.open(tmp_path / "u")) == expected


def test_append_puts_the_new_sentences_behind_the_old_ones(tmp_path, corpus_files):
    first, second, third, *_ = corpus_files
    together = build([first, second, third], tmp_path / "all")
    build(first, tmp_path / "s", part_bytes=9_000)
    for source in (second, third):
        summary = index_corpus([str(source)], tmp_path / "s", append=True, jobs=1, part_bytes=9_000)
    corpus = summary.corpus
    assert sentences(corpus) == sentences(together)
    for name in ("tokens", "documents", "types"):
        assert getattr(corpus, name) == getattr(together, name)
    assert list(corpus.lexicon.keys) == list(together.lexicon.keys)
    assert corpus.lexicon.counts.tolist() == together.lexicon.counts.tolist()
    assert [s["path"] for s in corpus.manifest["sources"]] == [str(first), str(second), str(third)]
    assert corpus.verify() == []
    assert corpus.content_hash != together.content_hash or len(corpus.segments) == len(together.segments)


def test_a_failed_append_leaves_the_store_as_it_was(tmp_path, write):
    build(write("a.txt", "Lions sleep.\n"), tmp_path / "s")
    before = files_of(tmp_path / "s")
    with pytest.raises(InputError, match="is not a line of word,tag,lemma"):
        bad = write("b.vert", "<s>\n" + "a\tb\tc\n" * 9 + "x\ty\n</s>\n")
        index_corpus([str(bad)], tmp_path / "s", append=True, jobs=1)
    assert files_of(tmp_path / "s") == before


def test_a_wrong_resume_does_not_destroy_the_unfinished_build(tmp_path, write):
    source, bad = write("a.vert", vertical(9)), write("b.vert", "<s>\na\tX\ta\nbad\n</s>\n")
    out = tmp_path / "s"
    with pytest.raises(InputError, match="finished part"):
        index_corpus([source, bad], out, jobs=1, part_bytes=500)
    before = files_of(out)
    with pytest.raises(InputError, match="there is no file"):
        index_corpus([str(tmp_path / "typo.txt")], out, resume=True, jobs=1)
    with pytest.raises(StoreError, match="was begun with other sources or options"):
        index_corpus([source, bad], out, {"level": "form"}, resume=True, jobs=1, part_bytes=500)
    with pytest.raises(StoreError, match="use --resume, or --overwrite to discard it"):
        index_corpus([source], out, jobs=1)
    with pytest.raises(StoreError, match="an unfinished build is at"):
        Corpus.open(out)
    assert files_of(out) == before
    index_corpus([source], out, jobs=1, overwrite=True)
    assert words(Corpus.open(out)) == words(build(source, tmp_path / "t"))
    assert not list(out.glob("work"))


def test_every_token_dropped_is_no_sentence(tmp_path, write):
    with pytest.raises(InputError, match="no sentence was found"):
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
