"""`kill -9` at any moment, then --resume: the same bytes as a build that nobody disturbed."""

import shutil
import subprocess
import sys
import time

import pytest
from corpus_oracle import content_of, files_of, words
from test_building import conllu, jsonl, prose, vertical
from tests.conftest import LIMIT
from tests.kills import killed_at, moments_of

from bagpack import Corpus, index_corpus
from bagpack.artefacts import LOCK, locked
from bagpack.corpus.build.plan import make_plan
from bagpack.corpus.build.worker import build_part
from bagpack.corpus.options import TextOptions
from bagpack.errors import StoreError

BUILD = {"jobs": 1, "part_bytes": 6_000}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    place = tmp_path_factory.mktemp("sources")
    made = {"a.vert": vertical(6), "b.conllu": conllu(4), "c.txt": prose(30), "d.jsonl": jsonl(80)}
    for name, text in made.items():
        (place / name).write_text(text)
    sources = sorted(map(str, place.iterdir()))
    # The first build also writes what is kept in the user's cache, which would count as changes.
    index_corpus(sources, tmp_path_factory.mktemp("first") / "s", **BUILD)
    return sources


def dying(step, *args, **options):
    """Build in a child process that kills itself at a step; returns whether it got that far."""
    return killed_at(step, lambda: index_corpus(*args, **options))


def copy(source, target):
    shutil.rmtree(target, ignore_errors=True)
    if source.exists():
        shutil.copytree(source, target)


@pytest.mark.parametrize("how", ["build", "overwrite", "append"])
def test_killed_at_any_moment(how, sources, tmp_path):
    """Old or new, but whole at every moment; whoever repeats the command has the text once."""
    before = {"build": [], "overwrite": sources[:1], "append": sources[:2]}[how]
    given = sources[2:] if how == "append" else sources
    options = {**BUILD, **({how: True} if before else {})}
    out, again, seen = tmp_path / "s", tmp_path / "again", content_of if how == "overwrite" else files_of
    if before:
        index_corpus(before, tmp_path / "base", **BUILD)
    copy(tmp_path / "base", out)
    moments = moments_of(lambda: index_corpus(given, out, **options))
    copy(out, tmp_path / "whole")
    old, new = (seen(path) if path.exists() else None for path in (tmp_path / "base", tmp_path / "whole"))
    for step in moments:
        copy(tmp_path / "base", out)
        opened = Corpus.open(out) if before else None
        assert dying(step, given, out, **options) == (step != moments[-1])
        if before:
            assert Corpus.open(out).verify() == opened.verify() == []
            assert seen(out) in (old, new)
        for repeated in ({"resume": True}, *([{}] if how == "append" else [])):
            copy(out, again)
            corpus = index_corpus(given, again, **options, **repeated).corpus
            assert seen(again) == new
            names = {entry["name"] for entry in corpus.manifest["segments"]}
            assert how == "overwrite" or {path.name for path in again.glob("segments/*")} == names
    assert moments[-1] > 100
    assert {path.name for path in tmp_path.iterdir()} - {"base"} == {"s", "again", "whole"}


def test_dying_again_and_again_while_resuming(sources, tmp_path):
    expected = files_of(index_corpus(sources, tmp_path / "whole", **BUILD).corpus.path)
    assert dying(40, sources, tmp_path / "s", **BUILD)
    for step in range(15, 400, 23):
        if not dying(step, sources, tmp_path / "s", resume=True, **BUILD):
            break
    assert files_of(tmp_path / "s") == expected


def test_what_is_left_is_swept_by_the_next_writer(sources, tmp_path):
    """Segments of an append that was given up, and what an overwrite replaced."""
    out, step = tmp_path / "s", 40
    index_corpus(sources[:1], out, **BUILD)
    while not (dying(step, sources[1:], out, append=True, **BUILD) and any(out.glob("segments/*.json"))):
        step += 20
        assert step < 1000
    corpus = index_corpus(sources[1:2], out, append=True, **BUILD).corpus
    names = {entry["name"] for entry in corpus.manifest["segments"]}
    assert {path.name for path in (out / "segments").iterdir()} == names
    index_corpus(sources[2:3], out, overwrite=True, **BUILD)
    assert words(corpus)  # it was open, and keeps its view
    corpus = index_corpus(sources[3:], out, append=True, **BUILD).corpus
    lexicons = [path.name for path in out.glob("lexicon-*")]
    assert len(lexicons) <= 2  # that of the manifest, and the one before it, which readers may have open
    assert {path.name for path in out.iterdir()} == {".bagpack-lock", "manifest.json", "segments", *lexicons}
    names = {entry["name"] for entry in corpus.manifest["segments"]}
    assert {path.name for path in (out / "segments").iterdir()} == names


def test_a_finished_build_is_left_as_it_is(sources, tmp_path):
    out, said = tmp_path / "s", []
    before = files_of(index_corpus(sources, out, **BUILD).corpus.path)
    done = index_corpus(sources, out, resume=True, notice=said.append, **BUILD)
    assert (done.new_tokens, done.corpus.tokens) == (0, Corpus.open(out).tokens)
    assert len(said) == 1 and f"{out} is finished" in said[0]
    with pytest.raises(StoreError, match="--level, --bad-lines"):
        index_corpus(sources, out, {"level": "form", "bad_lines": "skip"}, resume=True, **BUILD)
    with pytest.raises(StoreError, match="sources"):
        index_corpus(sources[1:], out, resume=True, **BUILD)
    assert files_of(out) == before


def test_a_build_killed_before_anything_was_finished_is_simply_begun_again(sources, tmp_path):
    """Nothing is kept that --resume could use, so no option is asked for."""
    (tmp_path / "s" / "segments" / ("0" * 32 + "-000.new")).mkdir(parents=True)
    (tmp_path / "s" / "work" / "progress").mkdir(parents=True)
    (tmp_path / "s" / LOCK).touch()
    index_corpus(sources[:1], tmp_path / "s", **BUILD)
    (tmp_path / "s" / "segments" / "of-an-overwrite-that-was-killed.json").write_text("{}")
    index_corpus(sources[:1], tmp_path / "s", overwrite=True, resume=True, **BUILD)
    assert Corpus.open(tmp_path / "s").verify() == []


def test_only_one_build_at_a_time_in_one_place(sources, tmp_path):
    out = tmp_path / "s"
    for given, hows in ((sources, ("", "resume", "overwrite")), (sources[1:], ("append", "overwrite"))):
        before = files_of(out)
        for how in hows:
            with locked(out), pytest.raises(StoreError, match="working"):
                index_corpus(given, out, **BUILD, **({how: True} if how else {}))
        assert files_of(out) == before
        if given is sources:
            index_corpus(sources, out, **BUILD)


def test_workers_that_outlive_their_build_do_no_harm(sources, tmp_path):
    """After a scheduler died, its workers may still write while the command is repeated."""
    out = tmp_path / "s"
    expected = files_of(index_corpus(sources, tmp_path / "whole", **BUILD).corpus.path)
    plan = make_plan(sources, TextOptions(), BUILD["part_bytes"])
    for directory in ("segments", "work/progress"):
        (out / directory).mkdir(parents=True)
    (out / ".bagpack-lock").touch()
    for part in plan.parts[:3]:
        build_part(part, str(out), plan, None)
    (out / "segments" / ("f" * 32 + "-000." + "0" * 32)).mkdir()  # half of another one
    done = index_corpus(sources, out, resume=True, **BUILD)
    build_part(plan.parts[0], str(out), plan, None)
    assert files_of(out) == expected
    assert done.read_tokens < done.new_tokens
    assert Corpus.open(out).verify() == []


SCRIPT = """
import sys
from bagpack.corpus.build.index import index_corpus
out, resume, *sources = sys.argv[1:]
index_corpus(sources, out, jobs=2, part_bytes=6_000, resume=resume == "resume")
"""


@pytest.mark.parametrize("workers", ["processes", "threads"])
def test_a_real_process_with_workers(sources, tmp_path, write, workers):
    """Vertical text alone is read by threads of the process that is killed; processes are left to themselves."""
    if workers == "threads":
        sources = [str(write("long.vert", vertical(150)))]
    expected = files_of(index_corpus(sources, tmp_path / "whole", **BUILD).corpus.path)
    out = tmp_path / "s"
    command = [sys.executable, "-c", SCRIPT, out]
    begun = subprocess.Popen([*command, "begin", *sources])
    while begun.poll() is None and not list(out.glob("segments/*.json")):  # of six, the last ends the build
        time.sleep(0.002)
    begun.kill()
    assert begun.wait() != 0
    assert not (out / "manifest.json").exists()
    subprocess.run([*command, "resume", *sources], check=True, timeout=LIMIT)
    assert files_of(out) == expected
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["s", "whole"]
