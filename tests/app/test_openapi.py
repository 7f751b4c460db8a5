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
    "/concordance/lines.json?w1=the": "/concordance/lines.json",
    "/model.json": "/model.json",
    "/model.json?top=999": "/model.json",
    "/teach.json": "/teach.json",  # nothing is taught here; test_teach.py has the other answers
}


@pytest.fixture(scope="module")
def api(server):
    return httpx.get(server + "/openapi.json").json()


def json_schema(operation, status):
    return (
        operation["responses"]
        .get(str(status), {})
        .get("content", {})
        .get("application/json", {})
        .get("schema")
    )


def test_every_path_is_asked_for(api):
    assert set(PATHS.values()) == {path for path in api["paths"] if path.endswith(".json")}
    assert all(json_schema(api["paths"][path]["get"], 200) for path in PATHS.values())


@pytest.mark.parametrize("path", PATHS)
def test_a_response_is_what_the_api_description_says(web, api, path):
    answer = web.get(path)
    schema = json_schema(api["paths"][PATHS[path]]["get"], answer.status_code)
    jsonschema.Draft202012Validator({**schema, "components": api["components"]}).validate(answer.json())
    assert answer.headers["content-type"] == "application/json"


def test_undeclared_keys_are_refused(api):
    schemas = api["components"]["schemas"]
    closed = [name for name in schemas if name.endswith("Page") or name in ("Problem", "Line")]
    assert len(closed) >= 8 and {"Problem", "Line"} <= set(closed)
    assert [name for name in closed if schemas[name]["additionalProperties"] is not False] == []


def test_descriptions_are_complete_and_no_page_needs_the_network(web, api):
    for path, methods in api["paths"].items():
        for operation in methods.values():
            assert operation["summary"] and operation["description"], path
            assert all(parameter.get("description") for parameter in operation.get("parameters", [])), path
    assert web.get("/docs").status_code == web.get("/redoc").status_code == 404
    for path in ("/", "/api", "/pair/kinda01/kindb01", "/model"):
        text = web.get(path).text
        assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text
        assert "<style" not in text and " style=" not in text and "onclick" not in text
