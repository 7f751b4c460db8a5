"""Two annotators: kappa as published, disagreements listed."""

import json
from itertools import pairwise

import pytest

from bagpack.find.agreement import agreement

A = "w1\tw2\tlabel\na\tb\tyes\nc\td\tyes\ne\tf\tyes\ng\th\tno\nonly\ta\tyes\nc\td\tno\n"
B = "w1,w2,label\na,b,yes\nc,d,yes\ne,f,yes\ng,h,no\nonly,b,yes\nonly,c,yes\ng,h,no\n"


def test_kappa_by_hand():
    # Cohen (1960): observed .7, chance .5 × .6 + .5 × .4 = .5.
    labels = [("y", "y")] * 4 + [("y", "n")] * 1 + [("n", "y")] * 2 + [("n", "n")] * 3
    a = {(str(k), "x"): one for k, (one, _) in enumerate(labels)}
    b = {(str(k), "x"): two for k, (_, two) in enumerate(labels)}
    found = agreement(a, b)
    assert (found.pairs, found.observed) == (10, 0.7)
    assert found.kappa == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert found.labels == ("n", "y") and found.table == ((3, 2), (1, 4))
    # Of three labels, none is nearer to another: observed .8, chance .6 × .4 + .2 × .2 + .2 × .4 = .36.
    three = [dict(zip(pairwise("123456"), labels, strict=True)) for labels in ("aaabc", "aacbc")]
    assert agreement(*three).kappa == pytest.approx((0.8 - 0.36) / (1 - 0.36))


def test_the_command(tmp_path, cli):
    (tmp_path / "a.tsv").write_text(A)
    (tmp_path / "b.csv").write_text(B)
    done = cli("agree", tmp_path / "a.tsv", tmp_path / "b.csv", "--json")
    found = json.loads(done.out)
    assert done.code == 0
    assert (found["pairs"], found["observed"], found["kappa"]) == (4, 0.75, 0.5)
    assert (found["only_a"], found["only_b"], found["repeated"]) == (1, 2, 2)
    assert found["disagreements"] == [{"w1": "c", "w2": "d", "label_a": "no", "label_b": "yes"}]
    done = cli("agree", tmp_path / "a.tsv", tmp_path / "b.csv")
    assert "4 pairs in both files, 3 with the same label (75.0 %)" in done.out
    assert "Cohen's kappa 0.500" in done.out and "2 rows repeat a pair" in done.out
    out = tmp_path / "different.csv"
    assert cli("agree", tmp_path / "a.tsv", tmp_path / "b.csv", "--out", out).code == 0
    assert out.read_text("utf-8-sig") == "w1,w2,label_a,label_b\nc,d,no,yes\n"


def test_one_label_has_no_kappa(tmp_path, cli):
    for name in "ab":
        (tmp_path / name).write_text("w1\tw2\tlabel\na\tb\tyes\nc\td\tyes\n")
    done = cli("agree", tmp_path / "a", tmp_path / "b")
    assert done.code == 0 and "Cohen's kappa undefined: there is one label only" in done.out
    assert json.loads(cli("agree", tmp_path / "a", tmp_path / "b", "--json").out)["kappa"] is None


def test_what_cannot_be_compared(tmp_path, cli):
    (tmp_path / "a").write_text("w1\tw2\tlabel\na\tb\tyes\n")
    (tmp_path / "b").write_text("w1\tw2\tlabel\nc\td\tyes\n")
    done = cli("agree", tmp_path / "a", tmp_path / "b")
    assert done.code != 0 and "no pair is in both files" in done.err
    for same in (tmp_path / "a", tmp_path / ".." / tmp_path.name / "a"):
        done = cli("agree", tmp_path / "a", same)
        assert done.code != 0 and "name the files of two annotators" in done.err
    done = cli("agree", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "a")
    assert done.code != 0 and (tmp_path / "a").read_text().startswith("w1")
