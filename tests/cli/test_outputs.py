"""Files that a command writes: files that are not ours, or that are read, are refused; links and pipes are kept."""

import os

import pytest
from tests.cli.conftest import PAIRS, refuses


@pytest.fixture
def report(shop, data):
    """The arguments that write a report to a path."""
    options = ("--folds", 2, "-b", 4, "-j", 1, "--condition", "v12", "--report")
    return lambda path: ("evaluate", shop, data, *options, path)


@pytest.fixture
def model(trained, data):
    return trained(data)


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
    assert b"Scores</h2>" in page.read_bytes()
    assert cli("explain", model, "cat", "lion", "--html", page).code == 0
    assert b"<main>" in page.read_bytes()
    assert page.stat().st_mode & 0o777 == 0o600
    assert cli(*report(page)).code == 0
    assert b"Scores</h2>" in page.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.model", "page.html", "relations.tsv"]


def test_a_link_stays_a_link(cli, report, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = tmp_path / "latest.html"
    link.symlink_to("elsewhere/first.html")  # which is not there yet
    for _ in range(2):
        assert cli(*report(link)).code == 0
        assert link.is_symlink()
        assert b"Scores</h2>" in (folder / "first.html").read_bytes()
        assert [path.name for path in folder.iterdir()] == ["first.html"]
    (folder / "first.html").write_text("notes")
    assert refuses(cli(*report(link)), "is no page that BagPack made")
    circle = tmp_path / "circle.html"
    circle.symlink_to(circle.name)
    assert "circle.html cannot be written" in cli(*report(circle)).sentence()


def test_a_pipe_and_a_device_are_refused(cli, report, shop, data, tmp_path):
    os.mkfifo(tmp_path / "page.html")
    for path in (tmp_path / "page.html", "/dev/stdout"):
        assert refuses(cli(*report(path)), "is a directory, a device or a pipe; name a file")
    os.mkfifo(tmp_path / "x.tsv")
    done = cli("vectors", shop, data, "-b", 4, "-j", 1, "--overwrite", "--out", tmp_path / "x.tsv")
    assert refuses(done, "is a directory, a device or a pipe; name a file")
    assert (tmp_path / "x.tsv").is_fifo() and (tmp_path / "page.html").is_fifo()


def test_an_output_that_is_read_is_refused(cli, shop, data, model, tmp_path):
    link = tmp_path / "link.tsv"
    link.symlink_to(data.name)
    basis = tmp_path / "basis.tsv"
    basis.write_text(cli("basis", shop, "-b", 4).out)
    options = ("-b", 4, "-j", 1, "--overwrite")
    for out in (data, link):
        done = cli("vectors", shop, data, "--out", out, *options)
        assert refuses(done, f"{out} is or holds {data}, which this command reads, so it is not overwritten")
    done = cli("vectors", shop, data, "--basis", basis, "--out", basis, "-j", 1, "--overwrite")
    assert refuses(done, f"{basis} is or holds {basis}")
    assert data.read_text() == PAIRS
    assert cli("vectors", shop, data, "--out", tmp_path / "m.bpm", *options).code == 0
    inside = tmp_path / "m.bpm" / "pairs.tsv"
    inside.write_text(PAIRS)
    done = cli("vectors", shop, inside, "--out", tmp_path / "m.bpm", *options)
    assert refuses(done, f"m.bpm is or holds {inside}, which this command reads")
    (model / "pairs.tsv").write_text(PAIRS)
    done = cli("train", shop, model / "pairs.tsv", "--out", model, *options)
    assert refuses(done, f"is or holds {model / 'pairs.tsv'}")
    assert (model / "pairs.tsv").read_text() == PAIRS


def test_an_export_through_a_link(cli, shop, data, tmp_path):
    (tmp_path / "link.tsv").symlink_to("target.tsv")
    assert cli("vectors", shop, data, "-b", 4, "-j", 1, "--out", tmp_path / "link.tsv").code == 0
    assert (tmp_path / "link.tsv").is_symlink() and (tmp_path / "target.tsv").stat().st_size


@pytest.mark.parametrize("name", ["m.json", "m.CSV", "m.tsv.gz", "m", "m.2", "m.matrix"])
def test_an_ending_of_other_files_is_no_name_for_a_matrix(cli, shop, data, tmp_path, name):
    done = cli("vectors", shop, data, "-b", 4, "-j", 1, "--out", tmp_path / name)
    if name in ("m", "m.2", "m.matrix"):
        assert done.code == 0 and (tmp_path / name / "manifest.json").is_file()
    else:
        assert refuses(done, "exports end in .tsv")
        assert [path.name for path in tmp_path.iterdir()] == ["relations.tsv"]
