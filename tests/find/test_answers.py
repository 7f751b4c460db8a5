"""Answers are appended to the file of examples; nothing is lost, whatever happens to the process or the file."""

import os
import resource
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime

import pytest

from bagpack.errors import BagpackError, InputError, UsageError
from bagpack.find.answers import AnswerFile
from bagpack.find.examples import read_examples

NOON = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)


def teach(path, *answers, label=None, annotator="ann"):
    file = AnswerFile(path, label, annotator)
    for pair, given in answers:
        file.add(pair, given, NOON)
    return file


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (
            "no-label.tsv",
            "w1\tw2\nleaf\ttree\n",
            "w1\tw2\tlabel\tannotator\ttime\nleaf\ttree\tyes\t\t\nwheel\tcar\tyes\tann\t2026-11-15T12:00:00Z\n",
        ),
        (
            "no-end.tsv",  # the last line does not end
            "w1\tw2\tlabel\tannotator\ttime\nleaf\ttree\tpart\tbob\t2025-01-01T00:00:00Z",
            "w1\tw2\tlabel\tannotator\ttime\nleaf\ttree\tpart\tbob\t2025-01-01T00:00:00Z\n"
            "wheel\tcar\tyes\tann\t2026-11-15T12:00:00Z\n",
        ),
        (
            "other-columns.csv",
            'Note,Word 1,Word 2,Relation\n"a, b",leaf,tree,part\n',
            'Note,Word 1,Word 2,Relation,annotator,time\n"a, b",leaf,tree,part,,\n'
            ",wheel,car,yes,ann,2026-11-15T12:00:00Z\n",
        ),
        (
            "excel.csv",  # a byte-order mark, semicolons, a line that names them, a cell over two lines
            '\ufeffsep=;\nw1;w2;label;note\nleaf;tree;part;"one\ntwo"\n\n',
            '\ufeffsep=;\nw1;w2;label;note;annotator;time\nleaf;tree;part;"one\ntwo";;\n'
            "wheel;car;yes;;ann;2026-11-15T12:00:00Z\n",
        ),
        (
            "notes.tsv",  # in a column without a name, with a character that looks like a line end
            "w1\tw2\tlabel\t\nleaf\ttree\tpart\tquite\u2028sure\n",
            "w1\tw2\tlabel\tannotator\ttime\t\nleaf\ttree\tpart\t\t\tquite\u2028sure\n"
            "wheel\tcar\tyes\tann\t2026-11-15T12:00:00Z\n",
        ),
        (
            "windows.tsv",
            "w1\tw2\tlabel\r\nleaf\ttree\tpart\r\n",
            "w1\tw2\tlabel\tannotator\ttime\nleaf\ttree\tpart\t\t\nwheel\tcar\tyes\tann\t2026-11-15T12:00:00Z\n",
        ),
    ],
)
def test_an_answer_is_a_row(tmp_path, name, before, after):
    path = tmp_path / name
    path.write_bytes(before.encode())
    teach(path).close()
    assert path.read_bytes() == before.encode()  # a session that ends before an answer changes nothing
    teach(path, (("wheel", "car"), "yes")).close()
    assert path.read_bytes().decode() == after
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_the_time_is_that_of_greenwich(tmp_path, monkeypatch):
    path = tmp_path / "examples.tsv"
    path.write_text("w1\tw2\nleaf\ttree\n")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        AnswerFile(path).add(("wheel", "car"), "yes")
    finally:
        monkeypatch.undo()
        time.tzset()
    written = datetime.fromisoformat(path.read_text().rsplit("\t", 1)[1].strip())
    assert abs((datetime.now(UTC) - written).total_seconds()) < 600


def test_answers_are_examples_of_the_next_session(tmp_path):
    path = tmp_path / "examples.tsv"
    path.write_text("w1\tw2\tlabel\nleaf\ttree\tpart\n")
    file = teach(path, (("wheel", "car"), "part"), (("car", "road"), "no"), (("dog", "animal"), "kind"))
    assert file.labels == ["part", "no", "kind"]
    file.close()
    again = AnswerFile(path)  # the label of the first examples, not of the answers
    for found in (again.examples, read_examples(path, "part")):
        assert found.positives == (("leaf", "tree"), ("wheel", "car"))
        assert found.negatives == (("car", "road"), ("dog", "animal"))
    assert again.label_of(("dog", "animal")) == "kind" and again.answers == []
    again.close()
    path.write_text("w1\tw2\tlabel\nleaf\ttree\tpart\nleaf\ttree\tkind\n")  # a pair with two labels
    twice = AnswerFile(path, "part")
    assert twice.examples == read_examples(path, "part") and twice.examples.positives == (("leaf", "tree"),)


def test_a_pair_is_answered_once(tmp_path):
    path = tmp_path / "examples.tsv"
    path.write_text("w1\tw2\tlabel\nleaf\ttree\tpart\n")
    file = teach(path, (("wheel", "car"), "part"))
    size = path.stat().st_size
    for pair in ("leaf", "tree"), ("wheel", "car"):
        with pytest.raises(InputError, match="already, as part"):
            file.add(pair, "no")
    assert path.stat().st_size == size


def test_undo_removes_the_rows_of_this_session_only(tmp_path):
    path = tmp_path / "examples.tsv"
    path.write_text("w1\tw2\tlabel\tannotator\ttime\nleaf\ttree\tpart\t\t\n")
    before = path.read_bytes()
    file = teach(path, (("wheel", "car"), "part"), (("car", "road"), "no"))
    assert file.undo().pair == ("car", "road")
    assert file.label_of(("car", "road")) is None
    file.add(("car", "road"), "part")
    assert file.undo().label == "part"
    assert file.undo().pair == ("wheel", "car")
    assert path.read_bytes() == before
    with pytest.raises(InputError, match="no answer of this session"):
        file.undo()
    assert path.read_bytes() == before


def test_a_file_that_was_edited_is_read_again(tmp_path):
    path = tmp_path / "examples.tsv"
    path.write_text("w1\tw2\tlabel\nleaf\ttree\tpart\n")
    file = teach(path, (("wheel", "car"), "part"))
    text = path.read_text().replace("wheel\tcar\tpart", "wheel\tcar\tno")
    other = tmp_path / "other"
    other.write_text(text + "door\thouse\tpart\t\t\n")
    os.replace(other, path)  # as editors do
    file.add(("car", "road"), "no", NOON)
    assert path.read_text().splitlines()[1:] == [
        "leaf\ttree\tpart\t\t",
        "wheel\tcar\tno\tann\t2026-11-15T12:00:00Z",
        "door\thouse\tpart\t\t",
        "car\troad\tno\tann\t2026-11-15T12:00:00Z",
    ]
    assert file.examples.positives == (("leaf", "tree"), ("door", "house"))
    assert [pair for pair, _ in file.answered] == [("wheel", "car"), ("car", "road")]  # none twice
    before = path.read_bytes()
    path.write_bytes(before.replace(b"car\troad\tno", b"car\trope\tno"))  # the size stays the same
    with pytest.raises(InputError, match="was changed by another program"):
        file.undo()
    path.write_bytes(before)
    with open(path, "a") as editor:  # in place
        editor.write("roof\thouse\tpart\t\t\n")
    with pytest.raises(InputError, match="no answer of this session"):
        file.undo()
    assert file.label_of(("roof", "house")) == "part"


def test_columns_with_other_names(tmp_path):
    path = tmp_path / "examples.tsv"
    path.write_text("whole\tpiece\tkind\ntree\tleaf\tpart\n")
    with pytest.raises(InputError, match="has no columns w1 and w2"):
        AnswerFile(path)
    file = AnswerFile(path, columns={"w1": "piece", "w2": "whole", "label": "kind"})
    file.add(("wheel", "car"), "no")
    assert path.read_text().splitlines()[0].split("\t") == ["whole", "piece", "kind", "annotator", "time"]
    assert path.read_text().splitlines()[-1].startswith("car\twheel\tno\t")
    assert file.examples.positives == (("leaf", "tree"),) and file.label == "part"
    file.close()


def test_one_process_at_a_time(tmp_path):
    path = tmp_path / "examples.tsv"
    path.write_text("w1\tw2\tlabel\nleaf\ttree\tpart\n")
    first = AnswerFile(path)
    with pytest.raises(UsageError, match="another bagpack teach writes to"):
        AnswerFile(path)
    first.close()
    AnswerFile(path).close()


KILLED = """
import os, signal, sys
from bagpack.find.answers import AnswerFile
file = AnswerFile(sys.argv[1], annotator="ann")
for k in range(50):
    file.add((f"a{k}", "b"), "yes")
    print(k, flush=True)
    if k == 20:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_loses_nothing(tmp_path):
    path = tmp_path / "examples.tsv"
    path.write_text("w1\tw2\nleaf\ttree\n")
    done = subprocess.run([sys.executable, "-c", KILLED, path], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    file = AnswerFile(path)
    assert len(file.examples.positives) == 1 + len(done.stdout.split()) == 22
    file.add(("c", "d"), "yes")
    assert path.read_text().endswith("\n") and len(path.read_text().splitlines()) == 24


FULL = """
import resource, signal, sys
from bagpack.errors import BagpackError
from bagpack.find.answers import AnswerFile
file = AnswerFile(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (file.path.stat().st_size + 20,) * 2)
try:
    file.add(("a" * 30, "b"), "yes")
except BagpackError as error:
    print(error)
"""


def test_an_answer_that_does_not_fit_on_the_disk_leaves_no_half_row(tmp_path):
    path = tmp_path / "examples.tsv"
    path.write_text("w1\tw2\tlabel\tannotator\ttime\nleaf\ttree\tpart\t\t\n")
    before = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", FULL, path], capture_output=True, text=True, check=True)
    assert "would become larger than the file size limit" in done.stdout
    assert path.read_bytes() == before
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.tsv", None, "is not a file; teaching begins with a table"),
        ("utf16.tsv", "w1\tw2\nleaf\ttree\n".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        ("packed.tsv.gz", None, "is not a file"),
        ("empty.tsv", b"", "is empty"),
        ("no-columns.tsv", b"a\tb\nleaf\ttree\n", "has no columns w1 and w2"),
        ("no-positive.tsv", b"w1\tw2\tlabel\nleaf\ttree\tno\n", "has no positive example"),
        (
            "two.tsv",
            b"w1\tw2\tlabel\na\tb\tx\nc\td\ty\n",
            "has 2 labels; choose the one to find with --label",
        ),
        ("roles.tsv", b"verb\tnoun\trole\teat\nx\ty\tA0\tz\n", "roles of arguments"),
    ],
)
def test_files_that_cannot_be_taught(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BagpackError, match=message):
        AnswerFile(path)
    assert content is None or path.read_bytes() == content


def test_a_spreadsheet_is_not_appended_to(tmp_path):
    from bagpack.sheets import write_table

    path = tmp_path / "examples.xlsx"
    write_table(path, [["w1", "w2"], ["leaf", "tree"]])
    with pytest.raises(InputError, match="cannot be appended to; save it as TSV or CSV"):
        AnswerFile(path)


@pytest.mark.parametrize("label", ["", "  ", "x" * 101, "a\x1b[31m"])
def test_labels_that_cannot_be_written(tmp_path, label):
    path = tmp_path / "examples.tsv"
    path.write_text("w1\tw2\nleaf\ttree\n")
    file = AnswerFile(path)
    size = path.stat().st_size
    with pytest.raises(InputError, match="cannot be written"):
        file.add(("a", "b"), label)
    assert path.stat().st_size == size


def test_a_link_stays_a_link(tmp_path):
    path, link = tmp_path / "examples.tsv", tmp_path / "link.tsv"
    path.write_text("w1\tw2\nleaf\ttree\n")
    path.chmod(0o640)
    link.symlink_to(path)
    teach(link, (("wheel", "car"), "yes"))
    assert link.is_symlink() and "wheel\tcar" in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o640
