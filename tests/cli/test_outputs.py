"""Files that commands write: files of others are kept, links stay links, tables in three formats without formulas."""

import csv
import io
import json
import os
import zipfile

import pytest
from tests.cli.conftest import PAIRS, refuses
from tests.contexts.stores import make_store
from tests.tasks.sheets import xlsx

from bagpack.errors import UsageError
from bagpack.sheets import check_table, guarded, table_text, unguarded, write_table


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
        for command in (report(path), ("explain", model, "cat", "lion", "--html", path)):
            assert refuses(cli(*command), f"{path} exists already and is no page that BagPack made")
        assert path.read_bytes() == before


def test_it_is_reported_before_the_work(cli, report, tmp_path):
    _, _, missing, *rest = report(tmp_path)
    assert refuses(cli("evaluate", "no-such-store", missing, *rest), f"{tmp_path} is a directory")
    nowhere, link = tmp_path / "none" / "r.html", tmp_path / "link.html"
    link.symlink_to(nowhere)
    for path in (nowhere, link):
        assert refuses(cli(*report(path)), f"there is no directory {nowhere.parent}; make it")
    assert not nowhere.parent.exists()


def test_a_page_of_ours_and_an_empty_file_are_replaced(cli, report, model, tmp_path):
    page = tmp_path / "page.html"
    page.touch(0o600)
    explain = ("explain", model, "cat", "lion", "--html", page)
    for command, part in (
        (report(page), b"Scores</h2>"),
        (explain, b"<main>"),
        (report(page), b"Scores</h2>"),
    ):
        assert cli(*command).code == 0
        assert part in page.read_bytes()
    assert page.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.model", "page.html", "relations.tsv"]


def test_a_link_stays_a_link(cli, report, shop, data, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    page, table, circle = (tmp_path / name for name in ("latest.html", "latest.tsv", "circle.html"))
    page.symlink_to("elsewhere/first.html")  # which is not there yet
    table.symlink_to("elsewhere/first.tsv")
    assert cli("vectors", shop, data, "-b", 4, "-j", 1, "--out", table).code == 0
    for _ in range(2):
        assert cli(*report(page)).code == 0
        assert b"Scores</h2>" in (folder / "first.html").read_bytes()
    assert page.is_symlink() and table.is_symlink() and (folder / "first.tsv").stat().st_size
    assert sorted(path.name for path in folder.iterdir()) == ["first.html", "first.tsv"]
    (folder / "first.html").write_text("notes")
    assert refuses(cli(*report(page)), "is no page that BagPack made")
    circle.symlink_to(circle.name)
    assert "circle.html cannot be written" in cli(*report(circle)).sentence()


def test_a_pipe_and_a_device_are_refused(cli, report, shop, data, tmp_path):
    pipes = [tmp_path / "page.html", tmp_path / "x.tsv"]
    for pipe in pipes:
        os.mkfifo(pipe)
    export = ("vectors", shop, data, "-b", 4, "-j", 1, "--overwrite", "--out", pipes[1])
    for command in (report(pipes[0]), report("/dev/stdout"), export):
        assert refuses(cli(*command), "is a directory, a device or a pipe; name a file")
    assert all(pipe.is_fifo() for pipe in pipes)


def test_an_output_that_is_read_is_refused(cli, shop, data, model, write, tmp_path):
    link, basis = tmp_path / "link.tsv", write("basis.tsv", cli("basis", shop, "-b", 4).out)
    link.symlink_to(data.name)
    options = ("-j", 1, "--overwrite")
    assert cli("vectors", shop, data, "--out", tmp_path / "m.bpm", "-b", 4, *options).code == 0
    inside, in_model = (write(f"{name}/pairs.tsv", PAIRS) for name in ("m.bpm", model.name))
    for command, given, out, more in (
        ("vectors", data, data, ()), ("vectors", data, link, ()), ("vectors", data, basis, ("--basis", basis)),
        ("vectors", inside, tmp_path / "m.bpm", ()), ("train", in_model, model, ()),
    ):  # fmt: skip
        done = cli(command, shop, given, "--out", out, *more, *options)
        read = more[1] if more else given
        assert refuses(done, f"{out} is or holds {read}, which this command reads")
        assert given.read_text() == PAIRS


@pytest.mark.parametrize("name", ["m.json", "m.CSV", "m.tsv.gz", "m", "m.2", "m.matrix"])
def test_an_ending_of_other_files_is_no_name_for_a_matrix(cli, shop, data, tmp_path, name):
    done = cli("vectors", shop, data, "-b", 4, "-j", 1, "--out", tmp_path / name)
    if name in ("m", "m.2", "m.matrix"):
        assert done.code == 0 and (tmp_path / name / "manifest.json").is_file()
    else:
        assert refuses(done, "exports end in .tsv") and not (tmp_path / name).exists()


# Tables that commands write: TSV, CSV and .xlsx by the file's name, and no formula in any of them


HEADER = ["w1", "w2", "score", "together"]
ROWS = [HEADER, ["=cmd|' /C calc'!A0", "-ness", -0.25, 3], ["a\tb\nc", "@x", 1e-9, None]]


def cells_of(path):
    from python_calamine import CalamineWorkbook

    return CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python()


def test_one_writer_for_three_formats(tmp_path):
    for name in ("t.tsv", "t.csv", "t.xlsx", "t.txt", "again.xlsx"):
        write_table(tmp_path / name, ROWS)
    tsv = ["=cmd|' /C calc'!A0\t-ness\t-0.25\t3", "a b c\t@x\t1e-09\t"]
    assert (tmp_path / "t.tsv").read_text().splitlines()[1:] == tsv
    assert (tmp_path / "t.txt").read_bytes() == (tmp_path / "t.tsv").read_bytes()
    written = (tmp_path / "t.csv").read_bytes()
    assert written.startswith(b"\xef\xbb\xbfw1,w2")  # or Excel would misread what is not ASCII
    read = list(csv.reader(io.StringIO(written.decode("utf-8-sig"))))
    assert read[1:] == [["'=cmd|' /C calc'!A0", "'-ness", "-0.25", "3"], ["a\tb\nc", "'@x", "1e-09", ""]]
    cells = [["=cmd|' /C calc'!A0", "-ness", -0.25, 3.0], ["a\tb\nc", "@x", 1e-9, ""]]
    assert cells_of(tmp_path / "t.xlsx")[1:] == cells
    with zipfile.ZipFile(tmp_path / "t.xlsx") as book:
        assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")
    assert (tmp_path / "again.xlsx").read_bytes() == (tmp_path / "t.xlsx").read_bytes()


def test_tables_that_cannot_be_written(tmp_path):
    with pytest.raises(UsageError, match=r"the most that \.xlsx can hold"):
        write_table(tmp_path / "wide.xlsx", [["x"] * 16_385])
    assert not (tmp_path / "wide.xlsx").exists()
    for name in ("t.xls", "t.ods", "t.csv.gz", "t.doc", "t.json"):
        with pytest.raises(UsageError, match=r"name it \.tsv, \.csv or \.xlsx"):
            check_table(tmp_path / name, "predictions")


def test_what_is_guarded_is_read_back():
    for text in ("=1", "+1", "-1", "@a", "\tx", "'tis", "''", "cat", ""):
        assert unguarded(guarded(text)) == text
    assert guarded(-1) == "-1" and guarded(True) == "yes"
    assert table_text([["a", None]], ";") == "a;\n"


def test_predictions_as_a_table(cli, trained, data, tmp_path):
    model = trained(data)
    shown = cli("predict", model, data).out
    for name in ("p.tsv", "p.csv", "p.xlsx"):
        args = ("predict", model, data, "--out", tmp_path / name)
        done = cli(*args)
        assert (done.code, done.out) == (0, "")
        assert refuses(cli(*args), "exists already")
        assert cli(*args, "--overwrite").code == 0
    assert (tmp_path / "p.tsv").read_text() == shown
    assert [row[:3] for row in cells_of(tmp_path / "p.xlsx")] == [
        row.split("\t")[:3] for row in shown.splitlines()
    ]
    assert refuses(cli("predict", model, data, "--out", data, "--overwrite"), "which this command reads")
    assert data.read_text() == PAIRS


@pytest.mark.parametrize(
    ("labels", "columns"),
    [
        (("a b", "a\tb"), ["a␉b", "a b"]),  # which differ in a tab
        (
            ("together", "Probability"),
            ["score of Probability", "score of together"],
        ),  # called like other columns
    ],
)
def test_every_label_has_a_column_of_its_own(cli, trained, write, labels, columns):
    pairs = [line.split("\t")[:2] for line in PAIRS.splitlines()[1:]]
    rows = [[*pair, labels[at % 2]] for at, pair in enumerate(pairs)]
    data = write("relations.csv", table_text([["w1", "w2", "label"], *rows], ","))
    model = trained(data)
    header, *found = [line.split("\t") for line in cli("predict", model, data).out.splitlines()]
    assert header[4:] == [*columns, "together", "trained"]
    assert {row[2] for row in found} <= {label.replace("\t", "␉") for label in labels}
    first = json.loads(cli("predict", model, data, "--json").out)[0]
    assert [name.replace("\t", "␉") for name in first] == header and isinstance(first["together"], int)


def test_sheets_that_are_not_read_are_reported_once(process, shop, write, tmp_path):
    rows = [["w1", "w2", "label"], ["cat", "lion", "part"], ["lion", "cat", "whole"]]
    book = write("book.xlsx", xlsx(rows, [["old"]], names=("Pairs", "Notes")))
    done = process("train", shop, book, "-b", 4, "-j", 1, "--no-scores", "-o", tmp_path / "m")
    assert done.code == 0, done.err
    said = f"bagpack: {book}: only the sheet 'Pairs' is read, not 'Notes'\n"
    assert done.err.count(said) == done.err.count("sheet '") == 1


def test_a_concordance_in_csv_has_no_formula(cli, tmp_path):
    store = make_store(tmp_path, [["=cmd", "lion", "cat"]], (), "f.bp").path
    rows = list(csv.DictReader(io.StringIO(cli("contexts", store, "lion", "--csv").out)))
    assert rows[0]["left"] == "'=CMD"


def test_check_writes_a_row_for_every_row(cli, shop, tmp_path, write):
    rows = ["cat;lion;Part of", "cat;lion;part of", "lion;lion;isa", "cat;gnu;isa"]
    rows += ["nail;hammer;isa", "hammer;nail;isa"]
    data = write("d.csv", "\n".join(["Word 1;Word 2;Label", *rows, rows[-1], ""]))
    done = cli("check", shop, data, "--out", tmp_path / "c.xlsx")
    assert done.code == 0, done.err
    reported = " ".join(done.out.split())
    for said in (
        "1 pair has several labels: cat – lion (Part of in line 2, part of in line 3)",
        "'Part of' (1 row), 'part of' (1 row); if they are one label, replace 'part of' by 'Part of'",
        "1 pair is repeated: hammer – nail (line 7, line 8)",
        "1 pair occurs in both orders: nail – hammer (line 6, line 7, line 8)",
        "1 pair is one word twice: lion – lion (line 4)",
    ):
        assert said in reported
    header, *found = cells_of(tmp_path / "c.xlsx")
    assert header == ["line", "w1", "w2", "target", "together", "unknown words", "remarks"]
    assert found[0] == [2, "cat", "lion", "Part of", 9, "", "several labels"]
    assert found[3] == [5, "cat", "gnu", "isa", "", "gnu", ""]
    remarks = ["several labels", "one word twice", "", "in both orders", *["repeated; in both orders"] * 2]
    assert [row[-1] for row in found[1:]] == remarks
    assert refuses(cli("check", shop, data, "--out", data, "--overwrite"), "which this command reads")
