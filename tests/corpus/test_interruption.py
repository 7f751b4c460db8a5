"""`kill -9` at any moment, then --resume: the same bytes as a build that nobody disturbed."""

import random
import subprocess
import sys
import time

import pytest
from corpus_oracle import files_of
from test_building import conllu, jsonl, prose, vertical
from tests.kills import killed_at, moments_of

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.build.workdir import at_work, owned
from bagpack.corpus.store.corpus import Corpus
from bagpack.errors import StoreError

BUILD = {"jobs": 1, "part_bytes": 12_000}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    place = tmp_path_factory.mktemp("sources")
    for name, text in [
        ("a.vert", vertical(12)),
        ("b.conllu", conllu(8)),
        ("c.txt", prose(60)),
        ("d.jsonl", jsonl()),
    ]:
        (place / name).write_text(text)
    return sorted(map(str, place.iterdir()))


def dying(step, *args, **options):
    """Build in a child process that kills itself at a step; returns whether it got that far."""
    return killed_at(step, lambda: index_corpus(*args, **options))


def test_a_build(sources, tmp_path):
    expected = files_of(index_corpus(sources, tmp_path / "whole", **BUILD).corpus.path)
    out = tmp_path / "s"
    moments = moments_of(lambda: index_corpus(sources, tmp_path / "counted", **BUILD))
    subprocess.run(["rm", "-r", tmp_path / "counted"], check=True)
    for step in moments:
        assert dying(step, sources, out, **BUILD) == (step != moments[-1])
        assert not out.exists() or files_of(out) == expected
        if not out.exists():
            index_corpus(sources, out, resume=True, **BUILD)
        assert files_of(out) == expected
        assert sorted(path.name for path in tmp_path.iterdir()) == ["s", "whole"]
        subprocess.run(["rm", "-r", out], check=True)
    assert moments[-1] > 200


def test_dying_again_and_again_while_resuming(sources, tmp_path):
    expected = files_of(index_corpus(sources, tmp_path / "whole", **BUILD).corpus.path)
    assert dying(40, sources, tmp_path / "s", **BUILD)
    for step in range(15, 400, 11):
        if not dying(step, sources, tmp_path / "s", resume=True, **BUILD):
            break
    assert files_of(tmp_path / "s") == expected


def test_an_overwrite(sources, tmp_path):
    expected = files_of(index_corpus(sources, tmp_path / "whole", **BUILD).corpus.path)
    out = tmp_path / "s"
    old = files_of(index_corpus(sources[:1], tmp_path / "old", **BUILD).corpus.path)
    subprocess.run(["cp", "-r", tmp_path / "old", out], check=True)
    moments = moments_of(lambda: index_corpus(sources, out, overwrite=True, **BUILD))
    subprocess.run(["rm", "-r", out], check=True)
    for step in moments:
        subprocess.run(["cp", "-r", tmp_path / "old", out], check=True)
        assert dying(step, sources, out, overwrite=True, **BUILD) == (step != moments[-1])
        if out.exists():
            assert files_of(out) in (old, expected)
        index_corpus(sources, out, overwrite=True, resume=True, **BUILD)
        assert files_of(out) == expected
        assert sorted(path.name for path in tmp_path.iterdir()) == ["old", "s", "whole"]
        subprocess.run(["rm", "-r", out], check=True)
    assert moments[-1] > 200


def test_an_append(sources, tmp_path):
    index_corpus(sources[:2], tmp_path / "base", **BUILD)
    subprocess.run(["cp", "-r", tmp_path / "base", tmp_path / "whole"], check=True)
    expected = files_of(index_corpus(sources[2:], tmp_path / "whole", append=True, **BUILD).corpus.path)
    out = tmp_path / "s"
    subprocess.run(["cp", "-r", tmp_path / "base", out], check=True)
    moments = moments_of(lambda: index_corpus(sources[2:], out, append=True, **BUILD))
    subprocess.run(["rm", "-r", out], check=True)
    for step in moments:
        subprocess.run(["cp", "-r", tmp_path / "base", out], check=True)
        died = dying(step, sources[2:], out, append=True, **BUILD)
        assert Corpus.open(out).verify() == []  # old or new, but whole at every moment
        if died and list(out.glob("append.*")):
            index_corpus(sources[2:], out, append=True, resume=True, **BUILD)
        elif died and Corpus.open(out).documents == Corpus.open(tmp_path / "base").documents:
            index_corpus(sources[2:], out, append=True, **BUILD)
        assert files_of(out) == expected
        assert died == (step != moments[-1])
        subprocess.run(["rm", "-r", out], check=True)
    assert moments[-1] > 100


def test_an_append_behind_one_that_died_while_it_cleaned_up(sources, tmp_path):
    index_corpus(sources[:1], tmp_path / "s", **BUILD)
    (tmp_path / "s" / "append.done").mkdir()
    (tmp_path / "s" / "append.done" / "plan.json").write_text("{}")
    corpus = index_corpus(sources[1:2], tmp_path / "s", append=True, **BUILD).corpus
    assert len(corpus.manifest["sources"]) == 2
    assert sorted(path.name for path in corpus.path.iterdir()) == ["lexicon-1", "manifest.json", "shards"]


def test_nothing_to_resume(sources, tmp_path):
    index_corpus(sources[:1], tmp_path / "s", **BUILD)
    with pytest.raises(StoreError, match=r"no unfinished append is in .*; remove --resume"):
        index_corpus(sources[1:], tmp_path / "s", append=True, resume=True, **BUILD)
    index_corpus(sources, tmp_path / "t", resume=True, **BUILD)  # nothing there yet: a build like any other


def test_a_finished_build_is_left_as_it_is(sources, tmp_path):
    out, said = tmp_path / "s", []
    before = files_of(index_corpus(sources, out, **BUILD).corpus.path)
    done = index_corpus(sources, out, resume=True, notice=said.append, **BUILD)
    assert (done.new_tokens, done.corpus.tokens) == (0, Corpus.open(out).tokens)
    assert len(said) == 1
    assert said[0].startswith(f"{out} is finished: nothing is left to resume")
    with pytest.raises(
        StoreError, match=r"is finished, and was indexed with other --level, --bad-lines; choose"
    ):
        index_corpus(sources, out, {"level": "form", "bad_lines": "skip"}, resume=True, **BUILD)
    with pytest.raises(
        StoreError, match=r"is finished, and was indexed with other sources; choose another --out"
    ):
        index_corpus(sources[1:], out, resume=True, **BUILD)
    assert files_of(out) == before
    (tmp_path / "s.partial").mkdir()  # of an overwrite that was interrupted
    with pytest.raises(StoreError, match="exists already"):
        index_corpus(sources, out, resume=True, **BUILD)


def test_a_text_that_changed_since_is_another_source(tmp_path, write):
    source = write("a.txt", "Lions sleep.\n")
    index_corpus([str(source)], tmp_path / "s", **BUILD)
    write("a.txt", "Lions sleep. Cats hunt.\n")
    with pytest.raises(StoreError, match=r"was indexed with other sources"):
        index_corpus([str(source)], tmp_path / "s", resume=True, **BUILD)


def test_only_one_build_at_a_time_in_one_place(sources, tmp_path):
    with owned(tmp_path / "s.partial", resume=False, overwrite=False):
        for options in ({}, {"resume": True}, {"overwrite": True}):
            with pytest.raises(StoreError, match="another bagpack command is working in"):
                index_corpus(sources, tmp_path / "s", **BUILD, **options)
    index_corpus(sources, tmp_path / "s", **BUILD)


def test_a_new_owner_waits_for_the_workers_of_a_killed_one(tmp_path):
    work = tmp_path / "s.partial"
    with owned(work, resume=False, overwrite=False):
        (work / "shards").mkdir()
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom bagpack.corpus.build.workdir import at_work\n"
        "with at_work(Path(sys.argv[1])):\n    print('writing', flush=True)\n    time.sleep(1)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, work], stdout=subprocess.PIPE) as worker:
        assert worker.stdout.readline() == b"writing\n"
        begun = time.monotonic()
        with owned(work, resume=True, overwrite=False):
            assert time.monotonic() - begun > 0.7


def test_what_goes_wrong_in_a_worker_is_not_blamed_on_its_lock(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"text\.txt"), at_work(tmp_path):
        (tmp_path / "text.txt").read_bytes()


SCRIPT = """
import sys
from bagpack.corpus.build.index import index_corpus
out, resume, *sources = sys.argv[1:]
index_corpus(sources, out, jobs=2, part_bytes=12_000, resume=resume == "resume")
"""


@pytest.mark.parametrize("workers", ["processes", "threads"])
def test_a_real_process_with_workers(sources, tmp_path, write, workers):
    """Vertical text alone is read by threads of the process that is killed; processes are left to themselves."""
    if workers == "threads":
        sources = [str(write("long.vert", vertical(300)))]
    expected = files_of(index_corpus(sources, tmp_path / "whole", **BUILD).corpus.path)
    moments = random.Random(11)
    out, work = tmp_path / "s", tmp_path / "s.partial"
    command = [sys.executable, "-c", SCRIPT, out]
    begun = subprocess.Popen([*command, "begin", *sources])
    wanted = moments.randint(1, 4)
    while begun.poll() is None and len(list(work.glob("shards/0*"))) < wanted:
        time.sleep(0.002)
    time.sleep(moments.random() * 0.05)
    begun.kill()
    assert begun.wait() != 0
    assert not out.exists()
    subprocess.run([*command, "resume", *sources], check=True, timeout=120)
    assert files_of(out) == expected
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["s", "whole"]


def test_tokens_of_an_earlier_run_do_not_count_as_read(sources, tmp_path):
    out = tmp_path / "s"
    whole = index_corpus(sources, tmp_path / "whole", **BUILD)
    assert whole.read_tokens == whole.new_tokens == whole.corpus.tokens
    step = 40
    while not (dying(step, sources, out, **BUILD) and any(tmp_path.glob("s.partial/shards/parts/*.json"))):
        step += 20
        assert step < 1000
    resumed = index_corpus(sources, out, resume=True, **BUILD)
    assert resumed.new_tokens == whole.new_tokens
    assert 0 < resumed.read_tokens < whole.read_tokens
