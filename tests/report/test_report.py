import io
import re
from html.parser import HTMLParser

from rich.console import Console
from tests.report.conftest import evaluation

from bagpack.report import html, sections
from bagpack.report import terminal as on_terminal


def render_report(plain):
    return html.render_report(evaluation(plain))


VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """Checks that elements nest, and collects tags, attributes and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


def test_the_page_is_whole_and_needs_nothing_else(result):
    text = render_report(result)
    page = Page(text)
    assert text.startswith("<!doctype html>")
    assert not {"link", "img", "iframe", "object"} & set(page.tags)
    assert not [value for name, value in page.attributes if name == "src" or name.startswith("on")]
    assert all(value.startswith("#") for name, value in page.attributes if name == "href")
    assert not [word for word in ("url(", "@import", "http:", "https:") if word in text]
    assert "script" not in page.tags
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert {value[1:] for name, value in page.attributes if name == "href"} <= set(ids)


def test_relations(relations):
    relations["data"]["path"], relations["corpus"]["path"] = "/some/where/bless.tsv", "/else/where/wiki.bp"
    # Beyond what AUC can be: the interval ends where it does.
    relations["conditions"][0]["metrics"]["auc"] = {"mean": 0.984, "low": 0.965, "high": 1.003}
    text = render_report(relations)
    shown = '<b title="/some/where/bless.tsv">bless.tsv</b> on <b title="/else/where/wiki.bp">wiki.bp</b>'
    assert shown in text
    page = Page(text)
    assert "93\u00a0%" in page.text  # a probability; no percentage is broken at the end of a line
    assert not [text for text in page.text if re.search(r"\d %", text)]
    for expected in [
        "Relations between words", "words-only", "majority", "26,214,400", "3,904", "58.9 %", "not transductive",
        "bagpack evaluate wiki.bp bless.tsv", "file /some/where/bless.tsv", "96.5–100.0", "scikit-learn", "unword7",
        "10–99", "2,700", "Confusion matrix", "lion – cat",
        "calibration error: 3.0 points", "70 % of the pairs; 91.0 % of",
        "from 3,000 to 6,000 changed F1 macro by +2.1 points (95 % interval +0.8 to +3.4).",
    ]:  # fmt: skip
        assert expected in page.words, expected


def test_everything_is_escaped(relations):
    evil = "</script><script>alert('x')</script>\"><b onmouseover=x>&amp;\u2028"
    relations |= {"command": evil, "notes": [evil], "settings": {evil: evil}, "versions": {evil: evil}}
    relations["corpus"] = {"path": evil, "content_hash": evil}
    listed = {"unknown_word_list": [evil], "capped_pair_list": [evil]}
    relations["data"] |= {"path": evil, "labels": {evil: 3}, **listed}
    relations["confusion"]["labels"] = [evil, *relations["confusion"]["labels"][1:]]
    relations["confusion"]["condition"] = evil
    relations["conditions"][0]["name"] = evil
    relations["baselines"][0]["name"] = evil
    relations["conditions"][0]["metrics"][evil] = {"mean": 1.0}
    relations["buckets"]["rows"][0] |= {"name": evil, "scores": {evil: 0.5}}
    relations["groups"] = relations["buckets"] | {"metric": evil}
    relations["references"] = [{"name": evil, "scores": {evil: {"auc": 0.3}}}]
    for row in relations["predictions"]:
        row |= {"w1": evil, "w2": evil, "fold": evil}
        row["sentences"] = [{"document": evil, "pieces": [evil] * 7}]
    relations["predictions"][0]["label"] = relations["predictions"][1]["predicted"] = evil
    relations["learning_curve"] |= {"condition": evil, "metric": evil}
    text = render_report(relations)
    page = Page(text)
    assert "script" not in page.tags and "</script>" not in text
    assert "onmouseover" not in dict(page.attributes)


def terminal(result, width=100):
    out = io.StringIO()
    on_terminal.print_result(evaluation(result), Console(file=out, width=width))
    return out.getvalue()


RATED = ["Spearman ρ", "ρ pooled", "−0.020", "By relation", "(published, ukWaC)"]
ASKED = ["Worst-case score %", "Coverage %", "Accuracy, complete %", "random"]


def test_the_terminal_shows_the_same(relations, ratings, questions):
    text = terminal(relations)
    for expected in [
        "F1 macro %", "76.5–79.5", "words-only", "10–99", "3,904 of 6,629 (58.9 %) pairs",
        "37 of 4,120 (0.9 %) words", ": unword0", "Note: The cap of 5,000", "Surest mistakes (of 3)",
        "lion – cat", "too low", "precision of 90 %", "would help",
    ]:  # fmt: skip
        assert expected in text, expected
    assert "unword8" not in text  # eight are named
    for result, expected in ((ratings, RATED), (questions, ASKED)):
        for shown in (terminal(result), Page(render_report(result)).words):
            assert [part for part in expected if part not in shown] == []


def test_the_tested_share_is_next_to_the_scores(relations):
    relations |= {"rows": 1000, "tested": 203}
    assert "203 of 1,000 rows tested (20.3 %)" in " ".join(terminal(relations).split())
    words = Page(render_report(relations)).words
    assert "Rows tested 20.3 % 203 of 1,000" in words
    relations["tested"] = 1000
    assert "rows tested" not in terminal(relations)
    assert "Rows tested" not in Page(render_report(relations)).words


def test_names_are_not_taken_for_markup_and_cannot_control_the_terminal(relations, capsys):
    relations["conditions"][0]["name"] = "[red]v[/red]"
    relations["conditions"][1]["name"] = "a\x1b[31mb"  # would change the terminal's colour
    relations["notes"] = ["[x]"]
    relations["buckets"]["rows"][0]["name"] = "[0]"
    on_terminal.print_result(evaluation(relations))
    text = capsys.readouterr().out
    for expected in ["[red]v[/red]", "a␛[31mb", "Note: [x]", "[0]"]:
        assert expected in text, expected


def test_many_groups_are_left_to_the_report_and_said_so(ratings):
    ratings["groups"]["rows"] = [{"name": f"g{i}", "n": 1, "scores": {"v12": 0.1}} for i in range(79)]
    assert "By relation: 79 rows" in terminal(ratings)
    assert "g78" in Page(render_report(ratings)).words


def test_sentences_that_sum_up(relations):
    """Whether more pairs help; a precision that is not reached, and one that no threshold reaches."""
    gains = {"would": (0.05, 0.01), "may": (0.02, -0.01), "would probably not": (0.004, 0.001)}
    for answer, (gain, low) in gains.items():
        relations["learning_curve"]["gain"] |= {"mean": gain, "low": low}
        assert f"{answer} help" in sections.curve_sentence(evaluation(relations))
    relations["abstention"]["precision_found"] = 0.845
    said = sections.abstention_sentence(evaluation(relations))
    assert "84.5 % of" in said and "less" in said
    relations["abstention"] |= {"threshold": None, "precision_found": None, "coverage": 0.0}
    assert sections.abstention_sentence(evaluation(relations)).startswith("No threshold")


def test_questions_show_the_right_answer_next_to_the_pick(questions):
    every = dict.fromkeys(("v1v2", "v12", "v1v2v12"), 1)
    choices = {"stem": ["mason", "stone"], "choices": [["carpenter", "wood"], ["poet", "night"]]}
    questions["answers"] = [{"id": "1", **choices, "answer": 0, "picked": every, "complete": every}]
    shown = terminal(questions)
    assert "right answer" in shown
    assert "…" not in terminal(questions, 60)  # long words continue on the next line
    assert shown.index("carpenter:wood") < shown.index("poet:night ✗")
    words = Page(render_report(questions)).words.replace("\xa0", " ")
    assert "mason:stone carpenter:wood poet:night ✗" in words


def test_a_report_of_many_pairs_is_small_and_says_what_it_omits(relations):
    row = relations["predictions"][0]
    relations["predictions"] = [{**row, "w1": f"word{i}"} for i in range(5000)]
    relations["suspicious"] = list(range(400))
    groups = [{"name": f"verb{i}", "n": 10, "scores": {"v12": 0.5}} for i in range(5000)]
    relations["groups"] = {"metric": "accuracy", "rows": groups}
    for own in relations["conditions"]:
        own["metrics"]["f1_macro"]["folds"] = [0.5] * 5000
    text = render_report(relations)
    assert len(text) < 300_000
    words = Page(text).words
    assert words.count("word4 – cat") == 2  # among the mistakes, among the suspicious
    assert "word200 – cat" not in words and "verb199 " in words and "verb200 " not in words
    for shown in ("4,900 more: bagpack evaluate … --predictions FILE", "370 more", "400 labels are suspicious",
                  "4,800 more: bagpack evaluate … --json"):  # fmt: skip
        assert shown in words, shown
