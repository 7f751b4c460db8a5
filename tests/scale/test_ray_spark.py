"""Ray and Spark on this machine: the same bytes as the local run. Slow, since both take long to start."""

import importlib.util
import os
import shutil

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("small_tasks")]

NEEDED = {"ray": ("ray",), "spark": ("pyspark", "joblibspark")}


@pytest.mark.parametrize("engine", NEEDED)
def test_whole_way_gives_the_same_bytes(engine, place, journey):
    missing = [name for name in NEEDED[engine] if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed: pip install 'bagpack[{engine}]'")
    if engine == "spark" and not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("there is no Java, which Spark runs on: install a JRE of version 17")
    expected = journey(place("local"), "--jobs", "1")
    found = journey(place(engine), "--backend", engine, "--jobs", "2")
    assert found.keys() == expected.keys()
    assert [name for name in found if found[name] != expected[name]] == []
