"""Files that a command writes: files that are not ours, or that are read, are refused; links and pipes are kept."""

import json
import os
import subprocess

import pytest
from tests.conftest import bagpack_command
from tests.contexts.stores import make_store
from tests.vectors.conftest import SENTENCES

PAIRS = "w1\tw2\tlabel\n" + "".join(
    f"{w1}\t{w2}\t{label}\n"
    for w1, w2, label in (
        ("cat", "lion", "a"),
        ("hammer", "nail", "b"),
        ("lion", "hammer", "a"),
        ("nail", "cat", "b"),
    )
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    return make_store(folder, SENTENCES, (7,)).path


@pytest.fixture
def data(write):
    return write("relations.tsv", PAIRS)


@pytest.fixture
def report(shop, data):
    """The arguments that write a report to a path."""
    return lambda path: (
        "evaluate", shop, data, "--folds", 2, "-b", 4, "-j", 1, "--condition", "v12", "--report", path
    )  # fmt: skip


@pytest.fixture
def model(cli, shop, data, tmp_path):
    out = tmp_path / "m.model"
    assert cli("train", shop, data, "--out", out, "-b", 4, "-j", 1, "--no-scores").code == 0
    return out


def refuses(done, sentence):
    assert done.code == 2, done.err
    assert done.out == ""
    assert sentence in done.err
    assert "Traceback" not in done.err
    return True


# Pages ------------------------------------------------------------------------------------------------------------


def test_a_text_a_data_set_and_a_page_of_others_are_left_alone(cli, report, model, data, write):
    theirs = write("index.html", "<!DOCTYPE html>\n<title>by hand</title>\n")
    text = write("town.txt", "The baker bakes bread.\n")
    for path in (text, data, theirs, model / "manifest.json"):
        before = path.read_bytes()
        sentence = (
            "exists already and is no page that BagPack made, so it is not replaced; choose another name"
        )
        assert refuses(cli(*report(path)), f"{path} {sentence}")
        assert refuses(cli("explain", model, "cat", "lion", "--html", path), f"{path} {sentence}")
        assert path.read_bytes() == before


def test_it_is_reported_before_the_work(cli, report, tmp_path):
    _, _, missing, *rest = report(tmp_path)
    assert refuses(cli("evaluate", "no-such-store", missing, *rest), f"{tmp_path} is a directory")
    nowhere = tmp_path / "none" / "r.html"
    assert refuses(cli(*report(nowhere)), f"there is no directory {nowhere.parent}; make it")
    assert not nowhere.parent.exists()
    link = tmp_path / "link.html"
    link.symlink_to(nowhere)
    assert refuses(cli(*report(link)), f"there is no directory {nowhere.parent}; make it")


def test_a_page_of_ours_and_an_empty_file_are_replaced(cli, report, model, tmp_path):
    page = tmp_path / "page.html"
    page.touch(0o600)
    assert cli(*report(page)).code == 0
    assert b"bagpack-result" in page.read_bytes()
    assert cli("explain", model, "cat", "lion", "--html", page).code == 0
    assert b"bp-explain" in page.read_bytes()
    assert page.stat().st_mode & 0o777 == 0o600
    assert cli(*report(page)).code == 0
    assert b"bagpack-result" in page.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.model", "page.html", "relations.tsv"]


def test_a_link_stays_a_link(cli, report, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = tmp_path / "latest.html"
    link.symlink_to("elsewhere/first.html")  # which is not there yet
    for _ in range(2):
        assert cli(*report(link)).code == 0
        assert link.is_symlink()
        assert b"bagpack-result" in (folder / "first.html").read_bytes()
        assert [path.name for path in folder.iterdir()] == ["first.html"]
    (folder / "first.html").write_text("notes")
    assert refuses(cli(*report(link)), "is no page that BagPack made")
    circle = tmp_path / "circle.html"
    circle.symlink_to(circle.name)
    done = cli(*report(circle))
    assert done.code == 1
    assert "circle.html cannot be written" in done.err


def test_a_pipe_is_written_to(cli, report, model, tmp_path):
    for arguments, expected in (
        (report, b"bagpack-result"),
        (lambda path: ("explain", model, "cat", "lion", "--html", path), b"bp-explain"),
    ):
        pipe = tmp_path / "page.html"
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
            try:
                done = cli(*arguments(pipe))
                assert done.code == 0, done.err
                read, _ = reader.communicate(timeout=60)
            finally:
                reader.kill()  # where nothing was written, it would wait for ever
        assert pipe.is_fifo()
        assert read.startswith(b"<!doctype html>")
        assert expected in read
        pipe.unlink()


def test_standard_output_by_name(process, report, tmp_path):
    done = process(*report("/dev/stdout"), "--quiet")
    assert done.code == 0, done.err
    assert done.out.startswith("<!doctype html>")
    assert done.out.rstrip().endswith("</html>")
    assert os.path.islink("/dev/stdout")
    # Behind > and >> it is a file, in which nothing may be written over.
    kept = tmp_path / "log"
    kept.write_text("before\n")
    with open(kept, "a") as log:
        subprocess.run(bagpack_command(*report("/dev/stdout"), "--json"), stdout=log, timeout=120, check=True)
    page, _, result = kept.read_text().partition("</html>")
    before, _, page = page.partition("<!doctype html>")
    assert before == "before\n"
    assert "bagpack-result" in page
    assert json.loads(result)["kind"] == "relations"


# Exports ----------------------------------------------------------------------------------------------------------


def test_an_output_that_is_read_is_refused(cli, shop, data, model, tmp_path):
    link = tmp_path / "link.tsv"
    link.symlink_to(data.name)
    basis = tmp_path / "basis.tsv"
    basis.write_text(cli("basis", shop, "-b", 4).out)
    options = ("-b", 4, "-j", 1, "--overwrite")
    for out in (data, link):
        done = cli("vectors", shop, data, "--out", out, *options)
        assert refuses(done, f"{out} is read by this command, so it is not overwritten; choose another name")
    done = cli("vectors", shop, data, "--basis", basis, "--out", basis, "-j", 1, "--overwrite")
    assert refuses(done, f"{basis} is read by this command")
    assert data.read_text() == PAIRS
    assert cli("vectors", shop, data, "--out", tmp_path / "m.bpm", *options).code == 0
    inside = tmp_path / "m.bpm" / "pairs.tsv"
    inside.write_text(PAIRS)
    done = cli("vectors", shop, inside, "--out", tmp_path / "m.bpm", *options)
    assert refuses(done, f"m.bpm holds {inside}, which is read by this command")
    (model / "pairs.tsv").write_text(PAIRS)
    done = cli("train", shop, model / "pairs.tsv", "--out", model, *options)
    assert refuses(done, f"holds {model / 'pairs.tsv'}")
    assert (model / "pairs.tsv").read_text() == PAIRS


def test_exports_through_a_link_and_a_pipe(cli, shop, data, tmp_path):
    plain, link, pipe = tmp_path / "plain.TSV", tmp_path / "link.tsv", tmp_path / "pipe.tsv"
    arguments = ("vectors", shop, data, "-b", 4, "-j", 1, "--out")
    assert cli(*arguments, plain).code == 0
    link.symlink_to("target.tsv")
    assert cli(*arguments, link).code == 0
    assert link.is_symlink()
    assert (tmp_path / "target.tsv").read_bytes() == plain.read_bytes()
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        done = cli(*arguments, pipe)
        read, _ = reader.communicate(timeout=60)
    assert done.code == 0, done.err
    assert read == plain.read_bytes()
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["m.json", "m.CSV", "m.tsv.gz"])
def test_an_ending_of_other_files_is_no_name_for_a_matrix(cli, shop, data, tmp_path, name):
    done = cli("vectors", shop, data, "-b", 4, "--out", tmp_path / name)
    assert refuses(done, "exports end in .tsv")
    assert [path.name for path in tmp_path.iterdir()] == ["relations.tsv"]


@pytest.mark.parametrize("name", ["m", "m.2", "m.matrix"])
def test_other_names_are_fine_for_a_matrix(cli, shop, data, tmp_path, name):
    assert cli("vectors", shop, data, "-b", 4, "-j", 1, "--out", tmp_path / name).code == 0
    assert (tmp_path / name / "manifest.json").is_file()
