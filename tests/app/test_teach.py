"""Teaching in a real browser, against a real server: answers, a reload, a killed server, two tabs."""

import json
import re
import shutil
import signal
import subprocess
import time

import httpx
import jsonschema
import pytest

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.find.teaching import is_held_out
from tests.app.conftest import free_port, served
from tests.app.test_accessibility import serious
from tests.conftest import LIMIT, bagpack_command
from tests.find.conftest import GIVEN, index_sentences


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return index_sentences(tmp_path_factory.mktemp("teach"))


@pytest.fixture
def examples(tmp_path):
    path = tmp_path / "parts.tsv"
    path.write_text("w1\tw2\tlabel\n" + "".join(f"{a}\t{b}\tpart\n" for a, b in GIVEN))
    return path


def teaching(corpus, examples, *options):
    """`bagpack teach` as a user starts it."""
    given = ("--annotator", "Ann", "--jobs", 1)
    return served("teach", corpus, examples, *given, *options)


def answers(examples):
    return [line.split("\t") for line in examples.read_text().splitlines()[1 + len(GIVEN) :]]


def trained(base):
    """Wait until the model is trained with all answers, so that the next question stays the same."""
    until = time.monotonic() + LIMIT
    while (state := httpx.get(base + "/teach.json", timeout=LIMIT).json())["training"]:
        assert time.monotonic() < until
        time.sleep(0.1)
    return state


def shown(page):
    return tuple(page.locator("h1.question").inner_text().split(" – "))


def wait_for_another(page, pair):
    """Wait until the page asks about another pair; while it navigates it has no heading at all."""
    from playwright.sync_api import expect

    heading = page.locator("h1.question")
    expect(heading).not_to_have_text(" – ".join(pair), timeout=LIMIT * 1000)
    heading.wait_for()


def test_twenty_answers_a_reload_two_tabs_and_a_killed_server(corpus, examples, browser):
    with teaching(corpus, examples) as (base, process):
        context = browser.new_context(viewport={"width": 390, "height": 844})
        page = context.new_page()
        page.set_default_timeout(LIMIT * 1000)
        page.goto(base + "/teach")
        asked = []
        for turn in range(20):
            w1, w2 = pair = shown(page)
            asked.append(pair)
            assert page.locator(".linelist .line").count() >= 1
            assert page.locator("mark.w1, mark.w2").count() >= 2
            page.keyboard.press("y" if w1.startswith("parta") and w2.startswith("partb") else "n")
            wait_for_another(page, pair)
            assert len(answers(examples)) == turn + 1
        assert len(set(asked)) == 20 and not set(asked) & set(GIVEN)
        rows = answers(examples)
        assert [tuple(row[:2]) for row in rows] == asked
        assert all(
            row[3] == "Ann" and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row[4]) for row in rows
        )
        assert {row[2] for row in rows} == {"part", "no"}
        assert serious(page) == []
        # No sideways scrolling on a phone.
        assert page.evaluate("document.documentElement.scrollWidth") <= 390

        trained(base)
        page.reload()
        last = shown(page)
        page.reload()
        assert shown(page) == last and len(answers(examples)) == 20

        # Undo and skip.
        page.keyboard.press("u")
        page.wait_for_url("**undone=**")
        assert [tuple(row[:2]) for row in answers(examples)] == asked[:-1]
        page.goto(base + "/teach")
        first = shown(page)
        page.keyboard.press("s")
        wait_for_another(page, first)
        assert len(answers(examples)) == 19

        # Another label, typed.
        pair = shown(page)
        page.keyboard.press("l")
        page.keyboard.type("kind of")
        page.keyboard.press("Enter")
        wait_for_another(page, pair)
        assert answers(examples)[-1][:3] == [*pair, "kind of"]

        # Two tabs with the same question: the first answer counts, the second is reported.
        other = context.new_page()
        trained(base)
        for tab in (page, other):
            tab.goto(base + "/teach")
        pair = shown(page)
        assert shown(other) == pair
        page.get_by_role("button", name="Yes").click()
        wait_for_another(page, pair)
        other.get_by_role("button", name="No").click()
        other.wait_for_url("**known=**")
        assert "answered in another tab" in other.locator(".warn").inner_text()
        assert answers(examples)[-1][:3] == [*pair, "part"] and len(answers(examples)) == 21

        process.send_signal(signal.SIGKILL)
        process.wait(LIMIT)
        context.close()
    kept = examples.read_bytes()
    with teaching(corpus, examples) as (base, _):
        state = httpx.get(base + "/teach.json", timeout=LIMIT).json()
    assert examples.read_bytes() == kept
    assert state["answers"] == 21 and state["label"] == "part"
    aside = sum(is_held_out((row[0], row[1])) for row in answers(examples))
    assert state["examples"][0] + state["examples"][1] == len(GIVEN) + 21 - aside
    known = {frozenset(row[:2]) for row in answers(examples)}
    assert not known & {frozenset((q["w1"], q["w2"])) for q in state["questions"]}


def test_the_list_and_the_curve(corpus, examples, browser):
    with (
        teaching(corpus, examples) as (base, _),
        httpx.Client(base_url=base, timeout=LIMIT, follow_redirects=True) as web,
    ):
        state = web.get("/teach.json").json()
        api = web.get("/openapi.json").json()
        schema = api["paths"]["/teach.json"]["get"]["responses"]["200"]["content"]["application/json"][
            "schema"
        ]
        jsonschema.Draft202012Validator({**schema, "components": api["components"]}).validate(state)
        assert len(state["questions"]) == 20
        scores = [question["score"] for k, question in enumerate(state["questions"]) if k % 5 != 4]
        assert scores == sorted(scores, reverse=True)  # every fifth is an uncertain one
        pairs = [(question["w1"], question["w2"]) for question in state["questions"]]
        page = web.post("/teach", data={"w1": pairs[3][0], "w2": pairs[3][1], "answer": "no", "view": "list"})
        assert page.status_code == 200 and "<h1>Candidates</h1>" in page.text
        assert answers(examples)[-1][:3] == [*pairs[3], "no"]
        state = trained(base)
        assert [point["answers"] for point in state["curve"]] == [0, 1]
        assert state["precision"] == 0.0 and not state["kept"]
        assert state["examples"] == [len(GIVEN), 0 if is_held_out(pairs[3]) else 1]
        context = browser.new_context(viewport={"width": 390, "height": 844})
        view = context.new_page()
        view.goto(base + "/teach?view=list")
        assert serious(view) == []
        assert view.locator("tbody tr").count() == 20 and view.locator("figure.curve").count() == 1
        assert view.evaluate("document.documentElement.scrollWidth") <= 390
        context.close()


def test_what_is_refused(corpus, examples, tmp_path):
    """Also that with --where candidates come from the selected documents alone."""
    shutil.copytree(corpus, tmp_path / "more.bp")
    other = (
        "<text id='other'>\n"
        + "<s>\nthe\tthe\nknob\tknob\nof\tof\nthe\tthe\nlid\tlid\n</s>\n" * 50
        + "</text>\n"
    )
    (tmp_path / "other.vert").write_text(other)
    index_corpus(
        [str(tmp_path / "other.vert")], tmp_path / "more.bp", TextOptions(columns="word,lemma"), append=True
    )
    with (
        teaching(tmp_path / "more.bp", examples, "--where", "id == all") as (base, _),
        httpx.Client(base_url=base, timeout=LIMIT) as web,
    ):
        assert web.get("/pair/knob/lid").status_code == 404
        before = examples.read_bytes()
        first = web.get("/teach.json").json()["questions"][0]
        pair = {"w1": first["w1"], "w2": first["w2"]}
        for form, message in (
            ({**pair, "answer": "perhaps"}, "is not an answer"),
            ({**pair, "answer": "label", "label": " "}, "cannot be written"),
            ({"answer": "undo"}, "nothing to undo"),
            ({"w1": "", "w2": "", "answer": "yes"}, "was not asked about"),
            ({"w1": "a\0b", "w2": "c", "answer": "yes"}, "was not asked about"),
        ):
            done = web.post("/teach", data=form)
            assert done.status_code == 400 and message in done.text, form
        done = web.post("/teach", data={**pair, "answer": "yes"}, headers={"Origin": "http://evil.example"})
        assert done.status_code == 403
        assert examples.read_bytes().startswith(before) and len(answers(examples)) == 0
        # Without the file nothing is written; when it is back, answers are taken again.
        moved = examples.with_name("moved")
        examples.rename(moved)
        done = web.post("/teach", data={**pair, "answer": "yes"})
        assert done.status_code == 400 and "is no longer there" in done.text
        moved.rename(examples)
        assert web.post("/teach", data={**pair, "answer": "yes"}).status_code == 303
        assert answers(examples)[-1][:3] == [first["w1"], first["w2"], "part"]
        second = subprocess.run(
            bagpack_command("teach", corpus, examples, "--port", free_port()),
            capture_output=True, text=True, timeout=LIMIT, check=False,
        )  # fmt: skip
        assert second.returncode != 0 and "another bagpack teach writes to" in second.stderr


def test_the_explorer_alone_teaches_nothing(web):
    answer = web.get("/teach.json")
    assert answer.status_code == 404 and "bagpack teach" in json.loads(answer.text)["error"]
