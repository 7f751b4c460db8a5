"""`bagpack contexts`, `basis`, `vectors` and `check` as users run them, with every bad input."""

import csv
import io
import json
import re
import subprocess

import pytest
from tests.cli.conftest import on_terminal
from tests.conftest import LIMIT, bagpack_command
from tests.contexts.stores import make_store
from tests.vectors.conftest import SENTENCES

from bagpack import Basis, Corpus, PairCounts


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


# Good ways ----------------------------------------------------------------------------------------------------


def test_vectors_makes_a_matrix_and_says_what_it_found(cli, shop, pairs, tmp_path):
    args = ("vectors", shop, pairs, "-b", 4, "-j", 1, "--out")
    done = cli(*args, tmp_path / "m.bpm", "--limit", 2)
    assert done.code == 0, done.err
    reported = " ".join(done.err.split())
    for said in (
        "4 pairs of 4 words, 80 features; 3 seen together, 1 never", "1 unknown word, a zero vector: unicorn",
        "1 row repeats a pair; each pair was counted once", "2 pairs exceed the limit of 2 observations: cat lion (9)",
    ):  # fmt: skip
        assert said in reported
    facts = json.loads(cli(*args, tmp_path / "j.bpm", "--json").out)
    assert (facts["pairs"], facts["duplicate_rows"], facts["pairs_seen_together"]) == (4, 1, 3)
    assert (facts["unknown_words"], facts["capped_words"]) == (["unicorn"], {})
    matrix = PairCounts.open(tmp_path / "m.bpm")
    assert (len(matrix), matrix.together.shape[0]) == (4, 2)


def test_vectors_of_standard_input_with_other_columns(cli, shop, tmp_path):
    done = cli(
        "vectors", shop, "-", "--out", tmp_path / "x.tsv", "-b", 4, "-j", 1, "--windows", "4-3",
        "--columns", "w1=a,w2=b",
        stdin=b"a\tb\ncat\tlion\n",
    )  # fmt: skip
    assert done.code == 0, done.err
    lines = (tmp_path / "x.tsv").read_text().splitlines()
    assert lines[0] == "w1\tw2\tfeature\tcount" and len(lines) > 10
    assert all(line.startswith("cat\tlion\tv") for line in lines[1:])


def test_a_basis_is_made_edited_and_used(cli, shop, pairs, write, tmp_path):
    done = cli("basis", shop, "-b", 3)
    terms = ["unigram\ta\t33", "unigram\tb\t30", "unigram\t.\t18"]
    terms += ["bigram\ta a\t29", "bigram\tb b\t29", "bigram\tbe the\t6"]
    assert done.out.splitlines() == ["kind\tterm\tcount", *terms]
    assert Basis.from_tsv(done.out) == Basis.of(Corpus.open(shop), 3)
    facts = json.loads(cli("basis", shop, "-b", 3, "--json").out)
    assert list(facts["unigrams"]) == ["a", "b", "."]
    edited = write("basis.tsv", done.out + "unigram\tonly\n")
    assert cli("vectors", shop, pairs, "--out", tmp_path / "m.bpm", "--basis", edited, "-j", 1).code == 0
    assert PairCounts.open(tmp_path / "m.bpm").basis.terms[3] == "only"


def test_info_and_verify_know_a_basis(cli, shop, write, tmp_path):
    printed, saved = tmp_path / "basis.tsv", tmp_path / "saved.tsv"
    printed.write_text(cli("basis", shop, "-b", 12).out)
    assert cli("basis", shop, "-b", 12, "--out", saved).out == ""
    lines = saved.read_text().splitlines(keepends=True)
    assert "".join([lines[0], *lines[2:]]) == printed.read_text()  # behind the header, a checksum
    for path in (printed, saved):
        assert cli("info", path, "--verify").code == 0
        facts = json.loads(cli("info", path, "--json").out)
        assert (facts["kind"], facts["terms"], facts["unigrams"], facts["bigrams"]) == ("basis", 24, 12, 12)
        assert facts["has_checksum"] == (path == saved)
    for damaged in ("".join(lines).replace("unigram\ta\t", "unigram\tz\t"), "".join(lines[:-1])):
        saved.write_text(damaged)
        done = cli("info", saved, "--verify")
        assert done.code == 1 and "checksum" in done.out + done.err
    lines = printed.read_text().splitlines(keepends=True)
    for first in (1, 13):  # a unigram, and a bigram of two with the same count
        swapped = [*lines[:first], lines[first + 1], lines[first], *lines[first + 2 :]]
        done = cli("info", write("swapped.tsv", "".join(swapped)), "--verify")
        assert done.code == 1 and "which is not rank order" in done.out + done.err
    unranked = write("unranked.tsv", "kind\tterm\nunigram\tb\nunigram\ta\n")
    assert cli("info", unranked, "--verify").code == 0  # without counts there are no ranks
    assert "is no basis that BagPack made" in cli("basis", shop, "--out", write("notes.txt", "mine")).err
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
    assert "1 unknown word in 1 row: unicorn" in shown


def test_equal_ratings_are_refused(cli, shop, write):
    equal = write("equal.tsv", "w1\tw2\tscore\ncat\tlion\t2\ncat\tnail\t2\n")
    other = write("other.tsv", "w1\tw2\tscore\nlion\tnail\t1\n")
    for command, *more in (("evaluate", "--test", other), ("train", "--no-scores", "--out", "m.model")):
        assert "every pair has the rating 2;" in cli(command, shop, equal, *more).sentence()


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
            assert lines[1] == f"  {shown}:3: this row has 2 columns where the header has 3; a tab is missing"
            assert lines[11:] == [f"  and {number - 10} more"]


# Concordance --------------------------------------------------------------------------------------------------


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
    for words, said in (("unicorn cat", "does not contain 'unicorn'"), ("hammer lion", "0 of 0 shown")):
        done = cli("contexts", shop, *words.split())
        assert (done.code, done.out) == (0, "") and said in done.err


def test_a_misspelt_word_is_answered_with_words_like_it(cli, shop):
    said = " ".join(cli("contexts", shop, "hamer", "lionn").err.split())
    assert "similar spellings of hamer: hammer" in said and "similar spellings of lionn: lion" in said
    assert "similar spellings" not in cli("contexts", shop, "xylophone").err


def test_brackets_in_words_and_labels_are_no_styles(cli, shop, write):
    assert "the corpus does not contain '[/b]'" in cli("contexts", shop, "[/b]", "cat").err
    data = write("relations.tsv", "w1\tw2\tlabel\ncat\tlion\t[/b]\n[sic]\tlion\t[b]\n")
    done = cli("check", shop, data)
    assert done.code == 0, done.err
    assert re.findall(r"\[\S+]", done.out) == ["[/b]", "[b]", "[sic]"]


# Bad input ----------------------------------------------------------------------------------------------------


def test_an_output_that_exists_or_cannot_be_written(cli, fails, shop, pairs, write, tmp_path):
    for out in ("m.bpm", "x.tsv"):
        kept = write(f"{out}/notes.txt" if out == "m.bpm" else out, "mine")
        assert f"{out} exists already" in fails(pairs, code=2, out=out)
        assert kept.read_text() == "mine"
    assert "is not a BagPack matrix" in fails(pairs, "--overwrite")
    args = ("vectors", shop, pairs, "--out", tmp_path / "x.tsv", "-b", 4, "-j", 1)
    assert cli(*args, "--overwrite").code == 0
    for out, code in (("x.tsv/m.bpm", 1), ("x.tsv/y.tsv", 1), ("none/y.tsv", 2)):
        assert "cannot be written" in fails(pairs, code=code, out=out)


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
