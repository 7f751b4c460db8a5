"""Files that commands write, in three formats, never those of others; what `vectors`, `basis` and `contexts` show."""

import csv
import io
import json
import os
import re
import subprocess
import zipfile

import pytest
from tests.cli.conftest import PAIRS, on_terminal, refuses
from tests.conftest import LIMIT, bagpack_command
from tests.contexts.stores import make_store
from tests.tasks.sheets import xlsx
from tests.vectors.conftest import SENTENCES

from bagpack import Basis, Corpus, PairCounts
from bagpack.contexts.windows import Windows
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
            assert refuses(cli(*command), f"{path} exists", "no page", "choose another name")
        assert path.read_bytes() == before


def test_it_is_reported_before_the_work(cli, report, tmp_path):
    _, _, missing, *rest = report(tmp_path)
    assert refuses(cli("evaluate", "no-such-store", missing, *rest), f" {tmp_path} ")
    nowhere, link = tmp_path / "none" / "r.html", tmp_path / "link.html"
    link.symlink_to(nowhere)
    for path in (nowhere, link):
        assert refuses(cli(*report(path)), f"{path} ", f"no directory {nowhere.parent}; make it")
    assert not nowhere.parent.exists()


def test_a_page_of_ours_and_an_empty_file_are_replaced(cli, report, model, tmp_path):
    page = tmp_path / "page.html"
    page.touch(0o600)
    scores = report(page), b"Scores</h2>"
    for command, part in (scores, (("explain", model, "cat", "lion", "--html", page), b"<main>"), scores):
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
    assert refuses(cli(*report(page)), f"{page} exists")
    circle.symlink_to(circle.name)
    assert "circle.html " in cli(*report(circle)).sentence()


def test_a_pipe_and_a_device_are_refused(cli, report, shop, data, tmp_path):
    pipes = [tmp_path / "page.html", tmp_path / "x.tsv"]
    for pipe in pipes:
        os.mkfifo(pipe)
    export = ("vectors", shop, data, "-b", 4, "-j", 1, "--overwrite", "--out", pipes[1])
    for command in (report(pipes[0]), report("/dev/stdout"), export):
        assert refuses(cli(*command), f"{command[-1]} is a directory, a device or a pipe; name a file")
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
        assert refuses(done, f"{name} ", ".tsv;") and not (tmp_path / name).exists()


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
    with pytest.raises(UsageError, match=r"wide\.xlsx .*16,384"):
        write_table(tmp_path / "wide.xlsx", [["x"] * 16_385])
    assert not (tmp_path / "wide.xlsx").exists()
    for name in ("t.xls", "t.ods", "t.csv.gz", "t.doc", "t.json"):
        with pytest.raises(UsageError, match=rf"{name} .* name it \.tsv, \.csv or \.xlsx"):
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
    wanted = [row.split("\t")[:3] for row in shown.splitlines()]
    assert [row[:3] for row in cells_of(tmp_path / "p.xlsx")] == wanted
    assert refuses(cli("predict", model, data, "--out", data, "--overwrite"), f"holds {data}")
    assert data.read_text() == PAIRS


@pytest.mark.parametrize(
    ("labels", "columns"),
    # Which differ in a tab; and called like other columns.
    [(("a b", "a\tb"), ["a␉b", "a b"]),
     (("together", "Probability"), ["score of Probability", "score of together"])],
)  # fmt: skip
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
        "'Part of' (1 row), 'part of' (1 row); if they are one label, replace 'part of' by 'Part of'",
        ": nail – hammer (line 6, line 7, line 8)",
    ):
        assert said in reported
    header, *found = cells_of(tmp_path / "c.xlsx")
    assert header == ["line", "w1", "w2", "target", "together", "unknown words", "remarks"]
    assert found[0] == [2, "cat", "lion", "Part of", 9, "", "several labels"]
    assert found[3] == [5, "cat", "gnu", "isa", "", "gnu", ""]
    remarks = ["several labels", "one word twice", "", "in both orders", *["repeated; in both orders"] * 2]
    assert [row[-1] for row in found[1:]] == remarks
    assert refuses(cli("check", shop, data, "--out", data, "--overwrite"), f"holds {data}")


@pytest.fixture
def pairs(write):
    return write("pairs.tsv", "w1\tw2\ncat\tlion\nhammer\tnail\nunicorn\tcat\ncat\tlion\n")


@pytest.fixture
def fails(cli, shop, tmp_path):
    """Run `bagpack vectors`; it must end in one sentence, leaving nothing."""

    def run(pairs, *options, code=1, out="m.bpm"):
        before = sorted(path.name for path in tmp_path.iterdir())
        done = cli("vectors", shop, pairs, "--out", tmp_path / out, "-b", 4, "--jobs", 1, *options)
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        return done.sentence(code)

    return run


def test_vectors_makes_a_matrix_and_says_what_it_found(cli, shop, pairs, tmp_path):
    args = ("vectors", shop, pairs, "-b", 4, "-j", 1, "--out")
    done = cli(*args, tmp_path / "m.bpm", "--limit", 2)
    assert done.code == 0, done.err
    reported = " ".join(done.err.split())
    for said in (
        "4 pairs of 4 words, 80 features; 3 seen together, 1 never", "1 unknown word", ": unicorn", "1 row repeats",
        "2 pairs exceed", "limit of 2 observations: cat lion (9)",
    ):  # fmt: skip
        assert said in reported
    facts = json.loads(cli(*args, tmp_path / "j.bpm", "--json").out)
    assert (facts["pairs"], facts["duplicate_rows"], facts["pairs_seen_together"]) == (4, 1, 3)
    assert (facts["unknown_words"], facts["capped_words"]) == (["unicorn"], {})
    matrix = PairCounts.open(tmp_path / "m.bpm")
    assert (len(matrix), matrix.together.shape[0]) == (4, 2)


def test_a_basis_is_made_edited_and_used(cli, shop, pairs, write, tmp_path):
    done = cli("basis", shop, "-b", 3)
    terms = ["unigram\ta\t33", "unigram\tb\t30", "unigram\t.\t18"]
    terms += ["bigram\ta a\t29", "bigram\tb b\t29", "bigram\tbe the\t6"]
    assert done.out.splitlines() == ["kind\tterm\tcount", *terms]
    assert Basis.from_tsv(done.out) == Basis.of(Corpus.open(shop), 3)
    facts = json.loads(cli("basis", shop, "-b", 3, "--json").out)
    assert list(facts["unigrams"]) == ["a", "b", "."]
    edited = write("basis.tsv", done.out + "unigram\tonly\n")
    how = ("--basis", edited, "--windows", "4-3", "-j", 1)
    assert cli("vectors", shop, pairs, "--out", tmp_path / "m.bpm", *how).code == 0
    made = PairCounts.open(tmp_path / "m.bpm")
    assert (made.basis.terms[3], made.settings.windows) == ("only", Windows.parse("4-3"))


def test_a_damaged_basis_is_not_used(cli, shop, pairs, write, tmp_path):
    printed, saved = tmp_path / "basis.tsv", tmp_path / "saved.tsv"
    printed.write_text(cli("basis", shop, "-b", 12).out)
    assert cli("basis", shop, "-b", 12, "--out", saved).out == ""
    whole = saved.read_text()
    lines = whole.splitlines(keepends=True)
    assert "".join([lines[0], *lines[2:]]) == printed.read_text()  # behind the header, a checksum
    for path in (printed, saved):
        done = cli("info", path, "--verify")
        assert done.code == 0 and ("is intact" in done.err) == (path == saved)
        facts = json.loads(cli("info", path, "--json").out)
        assert (facts["kind"], facts["terms"], facts["unigrams"], facts["bigrams"]) == ("basis", 24, 12, 12)
        assert facts["has_checksum"] == (path == saved)
    for old, new in ("unigram\ta\t", "unigram\tz\t"), ("blake", "flake"), (lines[-1], ""):
        saved.write_text(whole.replace(old, new))
        for command in ("info", "--verify"), ("vectors", shop, pairs, "--out", tmp_path / "m", "--basis"):
            assert "checksum" in cli(*command, saved).sentence()
    lines = printed.read_text().splitlines(keepends=True)
    for first in (1, 13):  # a unigram, and a bigram of two with the same count
        swapped = [*lines[:first], lines[first + 1], lines[first], *lines[first + 2 :]]
        done = cli("info", write("swapped.tsv", "".join(swapped)), "--verify")
        assert done.code == 1 and "rank" in done.out + done.err
    unranked = write("unranked.tsv", "kind\tterm\nunigram\tb\nunigram\ta\n")
    assert cli("info", unranked, "--verify").code == 0  # without counts there are no ranks
    assert refuses(cli("basis", shop, "--out", write("notes.txt", "mine")), "notes.txt exists")
    for content in ("unigram\tonly\nunigrm\tx\n", b"<!doctype html>\n", bytes(range(256))):
        other = write("other", content)
        assert str(other) in cli("info", other, "--verify").sentence()


def test_check_tells_what_the_corpus_knows(cli, shop, write):
    rows = "cat\tlion\thyper\ncat\tnail\trandom\nunicorn\tcat\trandom\n"
    data = write("relations.tsv", f"w1\tw2\tlabel\n{rows}")
    facts = json.loads(cli("check", shop, data, "--json").out)
    expected = {
        "unknown_words": ["unicorn"], "rows_never_together": 2, "never_together": ["cat nail", "unicorn cat"],
        "rows_by_frequency": {"0": 2, "1–9": 1, "10–99": 0, "100+": 0}, "limit": 5000, "capped_words": {},
        "labels": {"hyper": {"rows": 1, "together": 1}, "random": {"rows": 2, "together": 0}}, "capped_pairs": {},
    }  # fmt: skip
    assert {name: facts[name] for name in expected} == expected
    shown = cli("check", shop, data).out
    head = f"{data}: 3 rows, 4 words seen together rows share 0 times 2 66.7 %"
    assert " ".join(shown.split()).startswith(head)
    assert re.search("1 unknown .*: unicorn", shown)


def test_equal_ratings_are_refused(cli, shop, write):
    equal = write("equal.tsv", "w1\tw2\tscore\ncat\tlion\t2\ncat\tnail\t2\n")
    other = write("other.tsv", "w1\tw2\tscore\nlion\tnail\t1\n")
    for command, *more in (("evaluate", "--test", other), ("train", "--no-scores", "--out", "m.model")):
        assert "rating 2;" in cli(command, shop, equal, *more).sentence()


def test_the_first_ten_bad_rows_are_listed(cli, shop, write, tmp_path):
    bad = ["cat\tlion", "\tlion\ta", "cat\t\ta", "cat\tlion\t", "cat\tlion\ta\tb", *["cat\tlion"] * 7]
    text = "\n".join(["w1\tw2\tlabel", "cat\tlion\ta", *bad, ""])
    for name, stdin in ((write("data.tsv", text), b""), ("-", text.encode())):
        shown = "<stdin>" if name == "-" else name
        # Labels are not read by `vectors`, so that one row fewer is bad.
        for command, number in (("check", 12), ("vectors", 11)):
            more = ("--out", tmp_path / "m.bpm") if command == "vectors" else ()
            done = cli(command, shop, name, *more, stdin=stdin)
            assert (done.code, done.out) == (1, "")
            lines = done.err.splitlines()
            assert lines[0] == f"bagpack: {shown} has {number} bad rows"
            assert lines[1].startswith(f"  {shown}:3: ")
            assert lines[11:] == [f"  and {number - 10} more"]


def test_contexts_of_a_pair_a_word_a_run_and_a_word_with_itself(cli, shop):
    found = json.loads(cli("contexts", shop, "cat", "lion", "--json").out)
    assert (found["total"], found["shown"], found["unknown"]) == (9, 9, [])
    names = ("order", "left", "key", "between", "key2", "right", "after", "document")
    assert [found["contexts"][0][name] for name in names] == [
        "-", "", "LION", "BE THE ONLY", "CAT", "THAT LIVE", "IN LARGE SOCIAL GROUP .", "t0",
    ]  # fmt: skip
    done = cli("contexts", shop, "cat", "lion", "--csv", "--limit", 4)
    assert [row["order"] for row in csv.DictReader(io.StringIO(done.out))] == ["-", "+", "-", "-"]
    assert "4 of 9 shown" in done.err
    found = json.loads(cli("contexts", shop, "ice_cream", "town", "--json").out)
    assert (found["total"], found["contexts"][0]["between"]) == (3, "BE THE BEST ICE IN")
    found = json.loads(cli("contexts", shop, "cat", "cat", "--json").out)
    assert (found["total"], {line["order"] for line in found["contexts"]}) == (6, {"±"})
    for words, said in (("unicorn cat", "'unicorn'"), ("hammer lion", "0 of 0 shown")):
        done = cli("contexts", shop, *words.split())
        assert (done.code, done.out) == (0, "") and said in done.err


def test_brackets_in_words_and_labels_are_no_styles(cli, shop, write):
    assert "'[/b]'" in cli("contexts", shop, "[/b]", "cat").err
    data = write("relations.tsv", "w1\tw2\tlabel\ncat\tlion\t[/b]\n[sic]\tlion\t[b]\n")
    done = cli("check", shop, data)
    assert done.code == 0, done.err
    assert re.findall(r"\[\S+]", done.out) == ["[/b]", "[b]", "[sic]"]


def test_an_output_that_exists_or_cannot_be_written(cli, fails, shop, pairs, write, tmp_path):
    for out in ("m.bpm", "x.tsv"):
        kept = write(f"{out}/notes.txt" if out == "m.bpm" else out, "mine")
        assert f"{out} exists" in fails(pairs, code=2, out=out)
        assert kept.read_text() == "mine"
    assert "BagPack matrix" in fails(pairs, "--overwrite")
    args = ("vectors", shop, pairs, "--out", tmp_path / "x.tsv", "-b", 4, "-j", 1)
    assert cli(*args, "--overwrite").code == 0
    for out, code in (("x.tsv/m.bpm", 1), ("x.tsv/y.tsv", 1), ("none/y.tsv", 2)):
        assert f"{tmp_path / out} " in fails(pairs, code=code, out=out)


def test_quiet_means_no_progress_on_a_terminal(shop, pairs, tmp_path):
    args = ("vectors", shop, pairs, "-b", 4, "--jobs", 1, "--out", tmp_path / "n.bpm", "--quiet")
    assert on_terminal(*args)[2].strip() == ""


def test_a_store_of_more_files_than_may_be_open(tmp_path, pairs):
    many = make_store(tmp_path, SENTENCES, range(1, 18), "many.bp").path
    command = bagpack_command("vectors", many, pairs, "--out", tmp_path / "m.bpm", "-b", 4, "--jobs", 1)
    bound = "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (64, r.getrlimit(r.RLIMIT_NOFILE)[1]));"
    command[2] = bound + command[2]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    assert len(PairCounts.open(tmp_path / "m.bpm")) == 4
