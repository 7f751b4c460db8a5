"""Workers and what they are given: places of errors, threads that end, files that are looked at."""

import sys
import threading
import time

import pytest
from corpus_oracle import build

from bagpack.corpus.build.plan import make_plan
from bagpack.corpus.build.worker import Worker
from bagpack.corpus.options import TextOptions
from bagpack.errors import InputError, StoreError
from bagpack.parallel import delayed, run_until


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.txt", "One.\n" * 9 + "word " * 30 + "\n", "a.txt:10 has a sentence of 30 tokens"),
        ("a.jsonl", '{"text": "One."}\n{"text": "' + "word " * 30 + '"}\n', "a.jsonl:2 has a sentence of 30"),
        ("a.vert", "<s>\n" + "x\tN\tx\n" * 30 + "</s>\n", "a.vert:22 is past 20 tokens of one sentence"),
        ("a.conllu", b"# newdoc id = \xff\n1\tx\tx" + b"\t_" * 7 + b"\n\n", "a.conllu:1 is not utf-8"),
    ],
)
def test_errors_carry_their_place(name, text, place, write, tmp_path):
    """Also those that are found when the tokens are added to a segment."""
    with pytest.raises(InputError, match=place):
        build(write(name, text), tmp_path / "s", max_sentence=20)


def test_a_worker_stops_when_it_is_asked_to(write, tmp_path):
    plan = make_plan([str(write("a.txt", "Lions sleep.\n"))], TextOptions())
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoreError, match="the build was stopped; worker aborted"):
        Worker(tmp_path, plan.parts[0], plan, stop).run()


@pytest.mark.parametrize("error", [KeyboardInterrupt, InputError("line 3")])
def test_threads_have_ended_when_an_error_of_one_is_raised(error):
    ended = []
    stop = threading.Event()

    def wait(number):
        if number == 1:
            time.sleep(0.05)
            raise error
        if not stop.wait(10):
            pytest.fail("nothing stopped the thread")
        time.sleep(0.05)
        ended.append(number)

    with pytest.raises(error if isinstance(error, type) else type(error)):
        run_until(stop, [delayed(wait)(number) for number in range(4)], 2)
    assert 0 in ended and 3 not in ended


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
    with pytest.raises(InputError, match=r"empty\.txt is empty"):
        make_plan([str(path) for path in (tmp_path / "c").iterdir()], TextOptions(), jobs=2)
