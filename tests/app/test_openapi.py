"""Every JSON response is what /openapi.json says: validated against it, key by key."""

import httpx
import jsonschema
import pytest

PATHS = {
    "/index.json": "/index.json",
    "/complete.json?q=kind": "/complete.json",
    "/word/kinda01.json": "/word/{w}.json",
    "/word/nosuchword.json": "/word/{w}.json",
    "/word.json?w=the": "/word.json",
    "/word.json": "/word.json",
    "/pair/kinda01/kindb01.json": "/pair/{w1}/{w2}.json",
    "/pair/kinda01/nosuchword.json": "/pair/{w1}/{w2}.json",
    "/pair.json?w1=kinda01&w2=kindb01": "/pair.json",
    "/lines.json?w1=kinda01&w2=kindb01&feature=v12:%2Bbetw:of": "/lines.json",
    "/lines.json?w1=kinda01&w2=kindb01&feature=nonsense": "/lines.json",
    "/lines.json?w1=nosuchword&w2=kindb01&feature=v12:%2Bbetw:of": "/lines.json",
    "/distribution.json?w1=the": "/distribution.json",
    "/distribution.json?w1=kinda01&w2=kindb01&by=genre": "/distribution.json",
    "/distribution.json?w1=nosuchword": "/distribution.json",
    "/distribution.json?w1=the&by=colour": "/distribution.json",
    "/concordance.json?w1=the": "/concordance.json",
    "/concordance.json?w1=kinda01&w2=kindb01&sort=between": "/concordance.json",
    "/concordance.json?w1=nosuchword": "/concordance.json",
    "/concordance.json?w1=the&sort=colour": "/concordance.json",
    "/model.json": "/model.json",
    "/model.json?top=999": "/model.json",
    "/find/task.json": "/find/task.json",
    "/find/progress.json": "/find/progress.json",
}


@pytest.fixture(scope="module")
def api(server):
    return httpx.get(server + "/openapi.json").json()


def json_schema(operation):
    return operation["responses"]["200"]["content"]["application/json"]["schema"]


def test_every_path_is_asked_for(api):
    assert set(PATHS.values()) == {
        path for path, own in api["paths"].items() if "get" in own and ".json" in path
    }


@pytest.mark.parametrize("path", PATHS)
def test_a_response_is_what_the_api_description_says(web, api, path):
    answer = web.get(path)
    assert answer.headers["content-type"] == "application/json"
    if isinstance(answer.json(), dict) and set(answer.json()) == {"error"}:
        assert 400 <= answer.status_code < 500 and answer.json()["error"]
        return
    schema = json_schema(api["paths"][PATHS[path]]["get"])
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
