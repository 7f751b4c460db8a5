"""Counts by attributes of documents, and differences between subcorpora."""

import json
import random
import re

import pytest
from scipy.stats import binomtest

from bagpack.contexts.by_attribute import count_by
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.corpus.subcorpus import open_corpus
from bagpack.errors import InputError, UsageError
from bagpack.explain.comparison import compare_contexts, compare_pairs


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Cats meet dogs in fiction, and lions in news; one document has no genre."""
    place = tmp_path_factory.mktemp("compared")
    rng = random.Random(3)
    lines = []
    for number in range(60):
        genre = ["fiction", "news", None][2 if number == 7 else number % 2]
        friend = "dog" if number % 2 == 0 else "lion"
        words = [rng.choice(["cat", friend, "house", "tree", "see"]) for _ in range(40)]
        text = " ".join([*words, "."])
        lines.append({"id": f"d{number}", "text": text, "genre": genre, "year": 1900 + number})
    (place / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return index_corpus([str(place / "a.jsonl")], place / "s").corpus


@pytest.mark.parametrize("words", [["cat"], ["cat", "dog"], ["cat", "cat"]])
def test_counts_by_a_value_are_those_of_its_subcorpus(corpus, words):
    found = count_by(corpus, words, "genre")
    assert [row.value for row in found.rows] == ["fiction", "news", ""]
    for row in found.rows:
        part = corpus.where(f"genre == {row.value}" if row.value else "not genre")
        count = part.contexts(*words, limit=None).total
        assert (row.count, row.tokens) == (count, part.tokens)
        assert row.per_million == pytest.approx(1e6 * count / part.tokens, abs=0.001)
        interval = binomtest(count, part.tokens).proportion_ci(0.95, "wilson")
        assert (row.low, row.high) == pytest.approx((1e6 * interval.low, 1e6 * interval.high), abs=0.001)
    assert found.total == corpus.contexts(*words, limit=None).total
    steps = count_by(corpus, words, "year:25")
    assert [row.value for row in steps.rows] == ["1900", "1925", "1950"]
    assert steps.rows[1].tokens == corpus.where("year >= 1925 and year < 1950").tokens
    assert steps.total == found.total


def test_an_unknown_word_and_an_unknown_attribute(corpus):
    assert count_by(corpus, ["tiger"], "genre").unknown == ("tiger",)
    with pytest.raises(
        UsageError, match=r"has no attribute 'gender'; did you mean genre\? its documents have genre"
    ):
        count_by(corpus, ["cat"], "gender")
    with pytest.raises(UsageError, match="by decades, year:10"):
        count_by(corpus, ["cat"], "year:x")


def test_a_corpus_without_attributes_says_how_to_get_some(tmp_path):
    (tmp_path / "a.txt").write_text("The cat sees the dog.\n")
    plain = index_corpus([str(tmp_path / "a.txt")], tmp_path / "s").corpus
    with pytest.raises(
        UsageError, match=r"its documents have none; index text with attributes, .* \(--metadata\)"
    ):
        count_by(plain, ["cat"], "year")


def test_pairs_that_differ(corpus):
    from scipy.stats import chi2_contingency

    one, two = corpus.where("genre == fiction"), corpus.where("genre == news")
    found = compare_pairs(one, two)
    by_name = {item.name: item for item in found.differences}
    for name, item in by_name.items():
        totals = [part.contexts(*name.split(" – "), limit=None).total for part in (one, two)]
        assert [item.count_a, item.count_b] == totals
    clearest = found.differences[0]
    assert {"dog", "lion"} & {*clearest.name.split(" – ")}
    table = [
        [clearest.count_a, clearest.count_b],
        [one.tokens - clearest.count_a, two.tokens - clearest.count_b],
    ]
    g2 = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    assert abs(clearest.g2) == pytest.approx(g2, abs=0.01)
    assert clearest.q < 1e-6
    assert by_name["cat – house"].q > 0.05
    # Corrected for the number of tests: the smallest p-value times their number, divided by its rank.
    p = [chi2_contingency([[d.count_a, d.count_b], [one.tokens - d.count_a, two.tokens - d.count_b]], correction=False,
                          lambda_="log-likelihood").pvalue for d in found.differences]  # fmt: skip
    adjusted = [min(p[j] * len(p) / (j + 1) for j in range(k, len(p))) for k in range(len(p))]
    assert [d.q for d in found.differences] == pytest.approx(adjusted, rel=0.01)


def test_listed_pairs_and_contexts(corpus):
    one, two = corpus.where("genre == fiction"), corpus.where("genre == news")
    found = compare_pairs(
        one, two, [("cat", "dog"), ("cat", "lion"), ("cat", "tiger"), ("cat", "cat")], least=1
    )
    assert {item.name for item in found.differences} == {"cat – dog", "cat – lion", "cat – cat"}
    assert found.unknown == ("tiger",)
    for item in found.differences:
        assert item.count_a == one.contexts(*item.name.split(" – "), limit=None).total
    divided = [("cat house", "tree"), ("cat", "house tree")]  # the same words, but not the same pairs
    found = compare_pairs(one, two, divided, least=1)
    counts = [one.contexts(*pair, limit=None).total for pair in divided]
    assert sorted(item.count_a for item in found.differences) == sorted(counts)
    contexts = compare_contexts(corpus, one, two, ["cat"], b=20)
    assert (contexts.size_a, contexts.size_b) == (one.count("cat"), two.count("cat"))
    assert {item.name for item in contexts.differences[:4]} == {
        "pre:dog",
        "post:dog",
        "pre:lion",
        "post:lion",
    }
    pair = compare_contexts(corpus, one, two, ["cat", "house"], b=20)
    assert pair.size_a == one.contexts("cat", "house", limit=None).total
    assert any(item.name in ("+betw:dog", "-betw:dog") for item in pair.differences)
    with pytest.raises(InputError, match="neither part of the corpus contains 'tiger'; give another word"):
        compare_contexts(corpus, one, two, ["cat", "tiger"], b=20)


def test_commands(corpus, cli, tmp_path, write):
    found = json.loads(cli("contexts", corpus.path, "cat", "dog", "--by", "genre", "--json").out)
    assert found["rows"][0]["value"] == "fiction"
    assert cli("contexts", corpus.path, "cat", "--by", "genre", "--csv").out.startswith(
        "genre,count,tokens,per_million,low,high"
    )
    shown = cli("contexts", corpus.path, "cat", "--by", "year:10").out
    assert "1900" in shown and "█" in shown
    found = cli("compare", corpus.path, "--where", "genre == fiction", "--top", "3")
    assert found.code == 0 and "dog – see" in found.out and "all other documents" in found.out
    found = cli(
        "compare", corpus.path, "cat", "--where", "genre == fiction", "--versus", "genre == news", "--json"
    )
    assert json.loads(found.out)["differences"][0]["name"].partition(":")[2] in ("dog", "lion")
    for wrong, problem in (
        (("--where", "id"), "every document of .* satisfies --where 'id', so there are no others"),
        (
            ("--where", "genre == fiction", "--versus", "genre"),
            r"--versus '\(genre\) and not \(genre == fiction\)'",
        ),
        (("--where", "genre == ficton"), "no document of .* did you mean fiction"),
    ):
        done = cli("compare", corpus.path, *wrong)
        assert done.code == 2 and re.search(problem, " ".join(done.err.split())), done.err
    done = cli("compare", corpus.path, "--where", "genre == fiction", "--out", tmp_path / "d.tsv")
    assert done.code == 0 and (tmp_path / "d.tsv").read_text().startswith("name\tcount_a")
    before = write("pairs.tsv", "w1\tw2\ncat\tdog\n").read_text()
    one = ("compare", corpus.path, "--where", "genre == fiction")
    for options, said in (
        (
            ("--out", tmp_path / "d.tsv"),
            "d.tsv exists already; choose another name, or replace it with --overwrite",
        ),
        (
            ("--pairs", tmp_path / "pairs.tsv", "--out", tmp_path / "pairs.tsv", "--overwrite"),
            "is read by this command",
        ),
        (("--top", 0), "--top must be at least 1, not 0"),
        (("--least", -1), "--least must be at least 1, not -1"),
    ):
        done = cli(*one, *options)
        assert done.code == 2 and said in done.err and done.err.strip().count("\n") == 0
    assert (tmp_path / "pairs.tsv").read_text() == before
    done = cli("compare", corpus.path, "--where", "not genre == poetry")
    assert done.code == 2 and "satisfies --where 'not genre == poetry', so there are no others" in done.err
    (tmp_path / "d.csv").write_text("w1,w2,label\ncat,dog,x\nhouse,tree,y\ncat,lion,x\ntree,see,y\n")
    done = cli(
        "evaluate", corpus.path, tmp_path / "d.csv", "--by", "genre", "--folds", "2", "--json", "-b", "20"
    )
    results = json.loads(done.out)["results"]
    assert list(results) == ["fiction", "news"]
    assert results["news"]["corpus"]["tokens"] == corpus.where("genre == news").tokens
    done = cli("evaluate", corpus.path, tmp_path / "d.csv", "--by", "genre", "--folds", "2", "-b", "20")
    assert "fiction" in done.out and "v1v2v12" in done.out
    assert cli("evaluate", corpus.path, tmp_path / "d.csv", "--by", "year").code == 2
    steps = cli("evaluate", corpus.path, tmp_path / "d.csv", "--by", "year:10")
    assert "--by year:10: each value is evaluated by itself, without steps; give --by year" in steps.sentence(
        2
    )
    assert cli("contexts", corpus.path, "cat", "--by", "gerne").code == 2


def test_values_with_quotation_marks_are_parts_of_their_own(tmp_path):
    from bagpack.cli.evaluate import _parts

    texts = {'say "no"': "A lion.", "it's": "Two cats."}
    lines = [json.dumps({"text": text, "title": title}) + "\n" for title, text in texts.items()]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    index_corpus([str(tmp_path / "a.jsonl")], tmp_path / "s", TextOptions())
    parts = _parts(str(tmp_path / "s"), "title")
    assert {title: open_corpus(name).tokens for title, name in parts.items()} == {'say "no"': 3, "it's": 3}
