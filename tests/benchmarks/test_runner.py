import argparse
import importlib
from pathlib import Path

import benchmarks.__main__ as runner
import pytest


class ParsingError(Exception):
    pass


@pytest.mark.parametrize("name", ["learning", "large", "peers"])
def test_names_given_to_the_runner_are_no_arguments_of_a_benchmark(monkeypatch, name):
    """`python -m benchmarks index counting learning` stopped at learning, whose parser took the names."""
    read = []

    def parse_args(self, args=None, namespace=None):
        read.append(args)
        raise ParsingError

    monkeypatch.setattr("sys.argv", ["benchmarks", name])
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_args)
    with pytest.raises(ParsingError):
        runner.main()
    assert read == [()]


def test_benchmarks_run_in_the_order_of_their_names_on_the_command_line(monkeypatch, capsys):
    ran = []
    for name in ("index", "counting", "learning"):
        module = importlib.import_module(f"benchmarks.bench_{name}")
        monkeypatch.setattr(module, "main", lambda name=name: ran.append(name))
    monkeypatch.setattr("sys.argv", ["benchmarks", "learning", "bench_index", "counting"])
    runner.main()
    assert ran == ["learning", "index", "counting"]
    assert "== bench_index" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["benchmarks", "speed"])
    with pytest.raises(SystemExit, match=r"no benchmark bench_speed; there are .*bench_learning"):
        runner.main()


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in Path(runner.__file__).parent.glob("bench_*.py"))
)
def test_every_benchmark_imports_names_that_exist(name):
    assert callable(importlib.import_module(f"benchmarks.{name}").main)
