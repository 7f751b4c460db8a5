"""Every JSON response is what /openapi.json says: validated against it, key by key."""

import re

import httpx
import jsonschema
import pytest

PATHS = (
    "/index.json", "/complete.json?q=kind", "/word/kinda01.json", "/word/nosuchword.json", "/word.json?w=the",
    "/word.json", "/pair/kinda01/kindb01.json", "/pair/kinda01/nosuchword.json", "/pair.json?w1=kinda01&w2=kindb01",
    "/lines.json?w1=kinda01&w2=kindb01&feature=v12:%2Bbetw:of", "/lines.json?w1=kinda01&w2=kindb01&feature=nonsense",
    "/lines.json?w1=nosuchword&w2=kindb01&feature=v12:%2Bbetw:of", "/distribution.json?w1=the",
    "/distribution.json?w1=kinda01&w2=kindb01&by=genre", "/distribution.json?w1=nosuchword",
    "/distribution.json?w1=the&by=colour", "/concordance.json?w1=the",
    "/concordance.json?w1=kinda01&w2=kindb01&sort=between", "/concordance.json?w1=nosuchword",
    "/concordance.json?w1=the&sort=colour", "/model.json", "/model.json?top=999", "/find/task.json",
    "/find/progress.json",
)  # fmt: skip


def described(api, path):
    """The path of the API description that answers a request."""
    asked = path.partition("?")[0]
    patterns = {own: re.sub(r"\{\w+\}", "[^/.]+", own) for own in api["paths"]}
    return next(own for own, pattern in patterns.items() if re.fullmatch(pattern, asked))


@pytest.fixture(scope="module")
def api(server):
    return httpx.get(server + "/openapi.json").json()


def json_schema(operation):
    return operation["responses"]["200"]["content"]["application/json"]["schema"]


def test_every_path_is_asked_for(api):
    offered = {path for path, own in api["paths"].items() if "get" in own and ".json" in path}
    assert {described(api, path) for path in PATHS} == offered


@pytest.mark.parametrize("path", PATHS)
def test_a_response_is_what_the_api_description_says(web, api, path):
    answer = web.get(path)
    assert answer.headers["content-type"] == "application/json"
    if isinstance(answer.json(), dict) and set(answer.json()) == {"error"}:
        assert 400 <= answer.status_code < 500 and answer.json()["error"]
        return
    schema = json_schema(api["paths"][described(api, path)]["get"])
    jsonschema.Draft202012Validator({**schema, "components": api["components"]}).validate(answer.json())


def test_a_search_is_what_the_api_description_says(web, api):
    state = {"pairs": [["kinda01", "kindb01"], ["kinda02", "kindb02"]], "answers": []}
    answer = web.post("/find.json", json=state)
    schema = json_schema(api["paths"]["/find.json"]["post"])
    jsonschema.Draft202012Validator({**schema, "components": api["components"]}).validate(answer.json())
    assert answer.json()["rows"]


def test_descriptions_are_complete_and_no_page_needs_the_network(web, api):
    for path, methods in api["paths"].items():
        for operation in methods.values():
            assert operation["summary"] and operation["description"], path
            assert all(parameter.get("description") for parameter in operation.get("parameters", [])), path
    assert web.get("/docs").status_code == web.get("/redoc").status_code == 404
    for path in ("/", "/pair/kinda01/kindb01", "/model"):
        text = web.get(path).text
        assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text
        assert "<style" not in text and " style=" not in text and "onclick" not in text
