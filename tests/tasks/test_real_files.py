"""Spreadsheets as people have them: what is read, and forty bad files, each with its message."""

import codecs
import datetime
import gzip
import io
import random
import sys
from functools import cache

import pytest
from tests.conftest import samples
from tests.tasks.sheets import far_apart, ods, raw_ods, xls, xlsx, zipped

from bagpack.errors import BagpackError, InputError
from bagpack.tasks.pairs import read_dataset, read_pairs
from bagpack.tasks.workbook import read_workbook

ROWS = [["w1", "w2", "label"], ["cat", "animal", "isa"], ["wheel", "car", "part"]]
PAIRS = [("cat", "animal"), ("wheel", "car")]


def lines(separator):
    return "".join(separator.join(row) + "\n" for row in ROWS)


GOOD = {case: own for case, *own in samples("tasks/good_tables.jsonl")} | {
    "UTF-8 with a byte-order mark": ("d.csv", codecs.BOM_UTF8 + lines(",").encode()),
    "compressed, whatever it is called": ("d.csv", gzip.compress(lines(",").encode())),
    "UTF-16, as Excel's Unicode Text": ("d.txt", lines("\t").encode("utf-16")),
    "UTF-16 the other way round": ("d.txt", codecs.BOM_UTF16_BE + lines("\t").encode("utf-16-be")),
    "UTF-16 without a mark": ("d.txt", lines("\t").encode("utf-16-le")),
    "xlsx": ("d.xlsx", xlsx(ROWS)),
    "xlsx called .csv": ("d.csv", xlsx(ROWS)),
    "xlsx with an empty first sheet": ("d.xlsx", xlsx([], ROWS)),
    "xlsx with empty rows and columns": ("d.xlsx", xlsx([[], ["w1", "w2", "label", ""], *ROWS[1:], ["", " ", ""]])),
    "ods": ("d.ods", ods(ROWS)),
    "xls": ("d.xls", xls()),
    "xls called .xlsx": ("d.xlsx", xls()),
}  # fmt: skip


@pytest.mark.parametrize("case", GOOD)
def test_what_people_have_is_read(tmp_path, case):
    name, content = GOOD[case]
    path = tmp_path / name
    path.write_bytes(as_bytes(content))
    data = read_dataset(path)
    assert (data.pairs, data.labels) == (PAIRS, ["isa", "part"])


PIPED = ["semicolons, as Excel in most of Europe", "xlsx", "ods", "UTF-16, as Excel's Unicode Text"]


@pytest.mark.parametrize("case", PIPED)
def test_through_a_pipe(monkeypatch, case):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(as_bytes(GOOD[case][1]))))
    assert read_dataset("-").pairs == PAIRS


def test_a_label_merged_over_several_rows_is_the_label_of_each(tmp_path):
    rows = [["w1", "w2", "label"], ["leaf", "tree"], ["wheel", "car"], ["oak", "tree", "kind"]]
    path = tmp_path / "d.xlsx"
    elsewhere = (1, 7, 2, 7, ""), (20, 0, 25, 0, "")  # next to the table and below it: no part of it
    path.write_bytes(xlsx(rows, merged=[(1, 2, 2, 2, "part"), *elsewhere]))
    assert read_dataset(path).labels == ["part", "part", "kind"]
    path.write_bytes(xlsx([[], *rows], merged=[(0, 0, 0, 2, "My pairs")]))
    with pytest.raises(BagpackError, match="line 2: "):
        read_dataset(path)


def test_numbers_of_a_spreadsheet_and_decimal_commas(tmp_path):
    book = tmp_path / "d.xlsx"
    book.write_bytes(xlsx([["w1", "w2", "Mean rating"], ["a", "b", 3.5], ["c", "d", 4]]))
    assert read_dataset(book).scores.tolist() == [3.5, 4.0]
    book.write_bytes(xlsx([["w1", "w2", "label"], ["a", 3.0, True], ["c", "d", 2]]))
    data = read_dataset(book)
    assert (data.labels, data.pairs[0]) == (["true", "2"], ("a", "3"))
    text = tmp_path / "d.csv"
    text.write_text("w1;w2;score\na;b;3,5\nc;d;4\n")
    assert read_dataset(text).scores.tolist() == [3.5, 4.0]
    text.write_text("w1,w2\n'=1+1,'tis\n")
    assert read_pairs(text).pairs == [("=1+1", "'tis")]  # as our own CSV guards against formulas


def test_columns_can_be_named_as_they_are_or_nearly(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("My Noun,My Verb,Type of thing\na,b,x\n")
    named = {"w1": "My Noun", "w2": "my_verb", "label": "type of thing"}
    data = read_dataset(path, columns=named)
    assert (data.pairs, data.labels) == ([("a", "b")], ["x"])
    assert data.column("Type of Thing") == ["x"] == data.column("type_of_thing")


# Bad files ---------------------------------------------------------------------------------------------------------

SAVE = ".xlsx, CSV or TSV"


@cache
def large_workbook():
    return zipped({"xl/workbook.xml": "<workbook/>", "xl/media/a.bin": b"\0" * (300 << 20)})


@cache
def large_text():
    return gzip.compress(b"w1,w2\n" + b"a,b\n" * 1000) + gzip.compress(b"\n" * (1 << 20)) * 300


def as_bytes(content):
    """A file's content; what takes long to make is made by the first test that needs it."""
    content = content() if callable(content) else content
    return content if isinstance(content, bytes) else content.encode()


# What the message has besides the file's name: the line, the value, and what to do.
BAD = {case: own for case, *own in samples("tasks/bad_tables.jsonl")} | {
    "Windows-1252": (
        "d.csv", "w1,w2,label\ncat,animal,isa\ncafé,drink,isa\n".encode("cp1252"), ":3:|0xe9|UTF-8|iconv",
    ),
    "UTF-16 cut in the middle of a letter": ("d.csv", "w1,w2\ncat,é\n".encode("utf-16")[:-1], ":2:|0x0a|UTF-16"),
    "a word that became a date": (
        "d.xlsx", xlsx([["w1", "w2", "label"], [datetime.date(2026, 3, 1), "month", "isa"]]),
        ":2:|'w1' is the date 2026-03-01|as text",
    ),
    "the table on another sheet": (
        "d.xlsx", xlsx([["About"], ["by hand"]], ROWS, names=("Notes", "Data")),
        "--columns w1=NAME|in sheet 'Notes': about; other sheets: Data",
    ),
    "a spreadsheet without cells": ("d.xlsx", xlsx([]), "empty|first row"),
    "half a spreadsheet": ("d.xlsx", xlsx(ROWS)[:2000], "spreadsheet|again as .xlsx"),
    "cells in opposite corners": ("d.xlsx", far_apart(), "more memory|delete"),
    "a million filled rows by repetition": (
        "d.ods",
        raw_ods('<table:table-row table:number-rows-repeated="1048576"><table:table-cell '
                'table:number-columns-repeated="16384" office:value-type="float" office:value="1"/></table:table-row>'),
        "spreadsheet",
    ),
    "a spreadsheet that unpacks to gigabytes": ("d.xlsx", large_workbook, "256 MB|TSV"),
    "a binary workbook": ("d.xlsb", zipped({"xl/workbook.bin": "x"}), f"not a spreadsheet; save its table as {SAVE}"),
    "a Word document": ("d.docx", zipped({"word/document.xml": "<x/>"}), f"spreadsheet|{SAVE}"),
    "a zip archive": ("d.zip", zipped({"d.csv": "w1,w2\n"}), f"spreadsheet|{SAVE}"),
    "XML without a declaration": (
        "d.xml", "<corpus name='x'><text>" + "a, b; " * 500 + "</text></corpus>", f"XML|{SAVE}",
    ),
    "a gzip file that unpacks to gigabytes": ("d.csv.gz", large_text, "256 MB|split"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_forty_bad_files(tmp_path, monkeypatch, case):
    assert len(BAD) >= 40
    name, content, message = BAD[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(as_bytes(content))
    with pytest.raises(BagpackError) as caught:
        read_dataset(name)
    said = str(caught.value)
    assert said.startswith(name) and "\n" not in said
    assert [part for part in message.split("|") if part not in said] == []


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
def test_many_columns_in_linear_time(tmp_path, separator):
    """A search of the header for every column of 100,000 would not end."""
    names = [f"column{at}" for at in range(100_000)]
    path = tmp_path / "wide.csv"
    path.write_text("".join(separator.join(row) + "\n" for row in (["w1", "w2", *names], ["a", "b", *names])))
    assert len(read_pairs(path).columns) == 100_002


def test_without_the_extra_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    path = tmp_path / "d.xlsx"
    path.write_bytes(xlsx(ROWS))
    with pytest.raises(BagpackError, match=r"'python-calamine': pip install 'bagpack\[spreadsheet\]'"):
        read_dataset(path)


# Workbooks that ask for too much, or are damaged ----------------------------------------------------------------------


FAR = b'<row r="1048576"><c %s><v>1</v></c></row>'


@pytest.mark.costly
@pytest.mark.parametrize(
    "data",
    [
        far_apart(FAR % b"r='XFD1048576'"),
        far_apart(FAR % b'r = "XFD1048576"'),
        far_apart(FAR % b'r="xfd1048576"'),
        far_apart(FAR % b'r="XFD0001048576"'),
        far_apart(b'<x:row xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main" r="1048576">'
                  b'<x:c r="XFD1048576"><x:v>1</x:v></x:c></x:row>'),
        far_apart(sheet="xl/other/sheet1.xml"),
        far_apart(sheet="xl/worksheets/sheet1.XML"),
        far_apart(b'<row r="210000"><c r="A210000"><v>1</v></c><c r="CV210000"><v>1</v></c></row>'),  # 21 million cells
        raw_ods('<table:table-row table:number-rows-repeated="1000000"><table:table-cell '
                'table:number-columns-repeated="10000" office:value-type="string"><text:p>a</text:p></table:table-cell>'
                "</table:table-row>"),
    ],
)  # fmt: skip
def test_cells_far_apart(data):
    with pytest.raises(InputError) as caught:
        found = read_workbook("d.xlsx", data)
        assert sum(map(len, found.rows)) < 100  # what calamine does not take for a cell is fine, too
        raise InputError("d.xlsx is read")
    assert str(caught.value).startswith("d.xlsx ") and "\n" not in str(caught.value)


def test_damaged_workbooks(tmp_path):
    whole = xlsx([["w1", "w2"], *([f"a{i}", f"b{i}"] for i in range(50))])
    draw = random.Random(0)
    read = 0
    for at in range(40):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 6)):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        try:
            read += len(read_workbook("d.xlsx", bytes(data)).rows) > 0
        except InputError as error:
            assert "d.xlsx" in str(error) and "\n" not in str(error), at
    assert read < 40


def test_a_workbook_that_takes_too_long(monkeypatch):
    monkeypatch.setattr("bagpack.tasks.workbook.MAX_SECONDS", 0.01)
    with pytest.raises(InputError, match=r"d\.xlsx .*0\.01 seconds"):
        read_workbook("d.xlsx", xlsx([["w1", "w2"], ["a", "b"]]))


def test_long_cells_and_quotes_over_many_lines(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(f'w1,w2,note\ncat,lion,"{"x" * 200_000}"\n')
    assert len(read_pairs(path).columns["note"][0]) == 200_000
    for lines, fine in ((40, True), (60, False)):
        path.write_text("w1,w2,note\n" + 'cat,lion,"' + "a\n" * lines + 'b"\n' + "dog,cat,c\n")
        if fine:
            assert len(read_pairs(path)) == 2
        else:
            with pytest.raises(InputError, match=r"d\.csv:2: "):
                read_pairs(path)
