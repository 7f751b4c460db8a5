"""Finding and teaching in a real browser, against a real server."""

import re
import shutil
import signal
import time

import httpx
import pytest

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from tests.app.test_json_and_safety import check_answer
from tests.app.test_pages_in_browser import violations
from tests.conftest import LIMIT, served
from tests.find.conftest import GIVEN, index_sentences
from tests.made_up import table


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return index_sentences(tmp_path_factory.mktemp("teach"))


@pytest.fixture
def examples(write):
    return write("parts.tsv", table((*pair, "part") for pair in GIVEN))


def teaching(corpus, examples, *options):
    """`bagpack teach` as a user starts it."""
    return served("teach", corpus, examples, "--annotator", "Ann", *options)


def rows_of(path):
    return [line.split("\t") for line in path.read_text().splitlines()[1:]] if path.exists() else []


def pair_at(page, at):
    return tuple(page.locator("#found > li .pair").nth(at).inner_text().split(" – "))


def expect_quality(page, text):
    page.locator("#quality-text", has_text=text).wait_for()


def is_part(pair):
    return pair[0].startswith("parta") and pair[1].startswith("partb")


def test_paste_find_answer_open_leave_and_return(server, open_page):
    page = open_page(server, "/find")
    page.fill("#pairs", "\n".join(f"{a}\t{b}" for a, b in GIVEN) + "\nparta99\tpartb01\n")
    page.locator("#unknown li").wait_for()  # marked at once, with similar spellings
    assert "parta99" in page.locator("#unknown").inner_text() and violations(page) == []
    page.locator("#unknown button").first.click()
    page.locator("#unknown li").wait_for(state="detached")
    page.click("#go")
    page.locator("#found > li").first.wait_for()
    first = pair_at(page, 0)
    assert is_part(first) and page.locator("#found > li mark").count() >= 2
    page.locator("#found > li .no").first.click()
    page.locator("#found > li").nth(9).hover()  # nothing above the mouse moves
    shown = page.locator("#found > li .pair").all_inner_texts()
    expect_quality(page, "0 of 1 right")
    assert page.locator("#found > li .pair").all_inner_texts()[:10] == shown[:10]
    page.keyboard.press("y")
    expect_quality(page, "1 of 2 right (95 %: ")
    assert pair_at(page, 0) == first  # what was answered stays where it was
    page.keyboard.press("u")
    expect_quality(page, "0 of 1 right")
    page.keyboard.press("o")
    page.locator("#found .parts").first.wait_for()
    text = page.locator("#found .more").filter(has=page.locator(".parts")).inner_text()
    assert "Used together like" in text and "parta" in text and violations(page) == []
    sentences = page.locator("#found > li.current .line:visible").all_inner_texts()
    assert len(set(sentences)) == len(sentences) > 0
    page.get_by_role("link", name="Concordance", exact=True).first.click()
    page.wait_for_url("**/concordance")
    page.get_by_role("link", name="Find", exact=True).click()  # the task survives
    page.locator("#found > li").first.wait_for()
    expect_quality(page, "0 of 1 right")
    assert pair_at(page, 0) != first
    for kind, start in (("TSV", b"rank\tw1\tw2"), ("Excel", b"PK"), ("SKOS Turtle", b"@prefix")):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=kind).click()
        data = waiting.value.path().read_bytes()
        assert data.startswith(start)
        if kind == "TSV":
            assert "\t".join(first) in data.decode() and b"\tno\n" in data
    page.get_by_role("button", name="Start again").click()
    page.locator("#empty").wait_for()
    assert page.locator("#found > li").count() == 0 and page.input_value("#pairs") == ""


def test_only_pairs_with_a_word_on_a_phone(server, open_page):
    page = open_page(server, "/find", width=390)
    page.fill("#pairs", "\n".join(f"{a}, {b}" for a, b in GIVEN))
    page.locator(".more-asked summary").click()
    page.fill("#only-2", "partb03")
    page.click("#go")
    page.locator("#found > li").first.wait_for()
    assert all(text.endswith("– partb03") for text in page.locator("#found > li .pair").all_inner_texts())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(page) == []


def test_three_answers_two_tabs_and_a_killed_server(corpus, examples, open_page, tmp_path):
    answers = examples.with_name("parts.answers.tsv")
    before = examples.read_bytes()
    with teaching(corpus, examples) as (base, process):
        page = open_page(base, "/find")
        page.locator("#found > li").first.wait_for()
        assert page.locator("#pairs").get_attribute("readonly") is not None
        page.locator("#found > li").first.focus()
        asked = []
        page.route("**/find/answer.json", lambda route: time.sleep(0.2) or route.continue_())
        for _ in range(3):  # the next key is for the next pair, although the server is slow
            asked.append(tuple(page.locator("#found > li.current .pair").inner_text().split(" – ")))
            page.keyboard.press("y" if is_part(asked[-1]) else "n")
        expect_quality(page, " of 3 right")
        assert len(set(asked)) == 3 and not set(asked) & set(GIVEN)
        assert [tuple(row[:2]) for row in rows_of(answers)] == asked
        for row in rows_of(answers):
            assert row[2] == ("part" if is_part(row) else "no") and row[3] == "Ann"
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row[4])
        other = open_page(base, "/find")  # a second tab sees them all
        expect_quality(other, " of 3 right")
        page.keyboard.press("u")
        expect_quality(page, " of 2 right")
        assert [tuple(row[:2]) for row in rows_of(answers)] == asked[:-1]
        process.send_signal(signal.SIGKILL)
        process.wait(LIMIT)
        page.locator("#found > li").nth(20).get_by_role("button", name="Right").click()
        page.get_by_text("The explorer does not answer; start it again").wait_for()
        assert page.locator("#problem").evaluate("e => e.getBoundingClientRect().top") >= 0
    # Again, with other documents that --where does not select, and open to others with --host.
    shutil.copytree(corpus, tmp_path / "more.bp")
    sentence = "<s>\nthe\tthe\nknob\tknob\nof\tof\nthe\tthe\nlid\tlid\n</s>\n"
    (tmp_path / "other.vert").write_text("<text id='other'>\n" + sentence * 50 + "</text>\n")
    options = TextOptions(columns="word,lemma")
    index_corpus([str(tmp_path / "other.vert")], tmp_path / "more.bp", options, append=True)
    run = teaching(tmp_path / "more.bp", examples, "--where", "id == all", "--host", "0.0.0.0")
    with run as (base, process), httpx.Client(base_url=base, timeout=LIMIT) as web:
        task = web.get("/find/task.json").json()
        assert [tuple(answer[:2]) for answer in task["answers"]] == asked[:-1] and task["label"] == "part"
        rows = web.post("/find.json", json={}).json()["rows"]
        known = {frozenset(pair) for pair in (*asked[:-1], *GIVEN)}
        assert not known & {frozenset((row["w1"], row["w2"])) for row in rows}
        assert web.get("/pair/knob/lid").status_code == 404
        check_who_is_let_in(web, process.said())
        check_what_is_written(web, {"w1": rows[0]["w1"], "w2": rows[0]["w2"]}, answers)
    assert examples.read_bytes() == before


def check_who_is_let_in(web, said):
    """The address that is shown works; of others, the one that was reached."""
    base = str(web.base_url).rstrip("/")
    assert f"{base.replace('127.0.0.1', 'localhost')}/find" in said
    assert "anyone who can reach this machine can read the corpus and write to parts.answers.tsv" in said
    for host, status in (("localhost", 200), ("127.0.0.2", 200), ("127.0.0.3", 400)):
        url = base.replace("127.0.0.1", "127.0.0.2") + "/find"
        assert web.get(url, headers={"Host": f"{host}:{web.base_url.port}"}).status_code == status


def check_what_is_written(web, pair, answers):
    """An answer to a pair that was offered, from a page of this server."""
    before = answers.read_bytes()
    for body, message in (
        ({**pair, "answer": "hm"}, "'yes', 'no' or 'undo'"),
        ({"answer": "undo"}, "parts.answers.tsv"),
        ({"w1": "", "w2": "", "answer": "yes"}, "offered"),
        ({"w1": "a\0b", "w2": "c", "answer": "yes"}, "offered"),
    ):
        done = web.post("/find/answer.json", json=body)
        assert done.status_code == 400 and message in done.json()["error"], body
    right, elsewhere = {**pair, "answer": "yes"}, {"Origin": "http://evil.example"}
    assert web.post("/find/answer.json", json=right, headers=elsewhere).status_code == 403
    assert answers.read_bytes() == before
    assert web.post("/find/answer.json", json=right).status_code == 200
    assert rows_of(answers)[-1][:3] == [pair["w1"], pair["w2"], "part"]


def test_a_search_is_what_the_api_description_says(server):
    found = httpx.post(f"{server}/find.json", json={"pairs": GIVEN, "answers": []}, timeout=LIMIT).json()
    api = httpx.get(f"{server}/openapi.json").json()
    check_answer(api, api["paths"]["/find.json"]["post"], found)
    assert found["rows"]


WRONG = [
    ({"pairs": []}, "no examples"), ({"pairs": [["a", "b", "c"]]}, "pairs"), ({"pairs": [["a\0", "b"]]}, r"'a\x00'"),
    ({"pairs": [["", "b"]]}, "''"), ({"pairs": [["unicorn", "horn"]]}, "unicorn"),
    ({"pairs": [[*GIVEN[0]]], "pos1": "thing"}, "thing"), ({"answer": "yes"}, "bagpack teach"),
    ({"pairs": [[*GIVEN[0]]], "w1": "nosuchword"}, "nosuchword"), ({"pairs": [["a", "b"]] * 5001}, "5,000"),
    ({"pairs": [["a", "b" * 201]]}, f"'{'b' * 30}' "),
]  # fmt: skip


@pytest.mark.parametrize(("body", "message"), WRONG)
def test_a_wrong_search_is_answered_with_a_sentence(server, body, message):
    path = "/find.json" if "pairs" in body else "/find/answer.json"
    answer = httpx.post(server + path, json=body, timeout=LIMIT)
    assert answer.status_code == 400 and message in answer.json()["error"]
