"""Workbooks that ask for too much, or are damaged: one sentence, whatever happens to the process that reads them."""

import random

import pytest
from tests.tasks.sheets import far_apart, raw_ods, xlsx

from bagpack.errors import InputError
from bagpack.tasks.pairs import read_pairs
from bagpack.tasks.workbook import read_workbook

FAR = b'<row r="1048576"><c %s><v>1</v></c></row>'


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
    with pytest.raises(InputError, match=r"d\.xlsx takes more than 0\.01 seconds to read"):
        read_workbook("d.xlsx", xlsx([["w1", "w2"], ["a", "b"]]))


def test_long_cells_and_quotes_over_many_lines(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(
        f'w1,w2,note\ncat,lion,"{"x" * 200_000}"\ncat,dog,"{"line " + chr(10):s}{"a" + chr(10):s}b"\n'
    )
    assert len(read_pairs(path).columns["note"][0]) == 200_000
    for lines, rows in ((40, 2), (60, 0)):
        path.write_text("w1,w2,note\n" + 'cat,lion,"' + "a\n" * lines + 'b"\n' + "dog,cat,c\n")
        if rows:
            assert len(read_pairs(path)) == rows
        else:
            with pytest.raises(InputError, match=r"d\.csv:2: a quotation mark is not closed"):
                read_pairs(path)
