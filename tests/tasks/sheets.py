"""Spreadsheets for tests, made as bytes."""

import io
import zipfile
from pathlib import Path

_OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


def xlsx(*sheets, names=(), merged=()):
    """A workbook; each sheet is a list of rows of cells. `merged`: (top, left, bottom, right, text) in the first."""
    import xlsxwriter

    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True, "default_date_format": "yyyy-mm-dd"})
    for at, rows in enumerate(sheets):
        sheet = book.add_worksheet(names[at] if at < len(names) else None)
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
        for area in merged if at == 0 else ():
            sheet.merge_range(*area)
    book.close()
    return out.getvalue()


def ods(rows):
    """An OpenDocument spreadsheet as LibreOffice fills it up: the rest of the sheet as one empty cell."""
    cells = ["".join(f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>'
                     if cell else "<table:table-cell/>" for cell in row) for row in rows]  # fmt: skip
    filled = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)
    rest = '<table:table-cell table:number-columns-repeated="16384"/>'
    return raw_ods(f'{filled}<table:table-row table:number-rows-repeated="1048000">{rest}</table:table-row>')


def xls():
    """The three rows of test_real_files.ROWS in Excel's old format, as xlwt writes them."""
    return Path(__file__).with_name("rows.xls").read_bytes()


def raw_ods(rows):
    return zipped({
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "META-INF/manifest.xml": f'<manifest:manifest xmlns:manifest="{_OFFICE}:manifest:1.0"/>',
        "content.xml": f'<office:document-content xmlns:office="{_OFFICE}:office:1.0" '
        f'xmlns:table="{_OFFICE}:table:1.0" xmlns:text="{_OFFICE}:text:1.0"><office:body><office:spreadsheet>'
        f'<table:table table:name="S">{rows}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>",
    })  # fmt: skip


FAR_ROW = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'


def far_apart(corner=FAR_ROW, sheet="xl/worksheets/sheet1.xml"):
    """A workbook of two cells in opposite corners, which a full rectangle of cells cannot hold."""
    small = zipfile.ZipFile(io.BytesIO(xlsx([["w1", "w2"], ["a", "b"]])))
    content = {member: small.read(member) for member in small.namelist()}
    text = content.pop("xl/worksheets/sheet1.xml").replace(b"</sheetData>", corner + b"</sheetData>")
    content[sheet] = text
    relations = "xl/_rels/workbook.xml.rels"
    named = sheet.removeprefix("xl/").encode()
    content[relations] = content[relations].replace(b"worksheets/sheet1.xml", named)
    return zipped(content)


def zipped(content):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return out.getvalue()
