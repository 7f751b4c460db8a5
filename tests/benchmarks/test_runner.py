import argparse
import importlib
from pathlib import Path

import benchmarks.__main__ as runner
import pytest
from benchmarks.accuracy import variants

from bagpack.learn.features import modern_features
from tests.synthetic import make_counts


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in Path(runner.__file__).parent.glob("bench_*.py"))
)
def test_every_benchmark_imports_names_that_exist_and_reads_no_arguments_of_the_runner(monkeypatch, name):
    """`python -m benchmarks index counting learning` stopped at learning, whose parser took the names."""
    ran, module = [], importlib.import_module(f"benchmarks.{name}")
    monkeypatch.setattr("sys.argv", ["benchmarks", name.removeprefix("bench_")])

    def stop(self, args=None, namespace=None):
        raise InterruptedError(args)

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)
    if "argparse" in Path(module.__file__).read_text("utf-8"):
        with pytest.raises(InterruptedError, match=r"^\(\)$"):
            runner.main()
    else:
        monkeypatch.setattr(module, "main", lambda: ran.append(name))
        runner.main()
        assert ran == [name]


def test_every_module_of_the_benchmarks_finds_what_it_imports():
    """The ablation stopped at a function of the package that had another name."""
    root = Path(runner.__file__).parent
    for path in sorted(root.glob("*/*.py")):
        try:
            importlib.import_module(f"benchmarks.{path.parent.name}.{path.stem}")
        except ModuleNotFoundError as error:  # a peer that is not installed
            assert error.name.split(".")[0] not in ("bagpack", "benchmarks")


def test_the_ablation_begins_at_preset_modern_and_its_rows_can_be_of_any_length():
    counts, _ = make_counts(n_pairs=30, n_words=12, seed=2)
    of_unit, free = (
        variants.ModernVariant(unit=own).features({}, counts, "v1v2v12").matrix() for own in (True, False)
    )
    assert abs(of_unit - modern_features(counts).matrix()).max() < 1e-12
    b = 2 * len(counts.basis)
    assert (free[:, :b].power(2).sum(axis=1) > 1.5).all()  # two rows of unit length, added
