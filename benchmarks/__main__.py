"""Run every `bench_*.py`: python -m benchmarks [NAME ...]; those that take long only when they are named."""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path

ON_REQUEST = {"bench_large", "bench_peers"}


def main() -> None:
    """Run the benchmarks named on the command line, or all that `make bench` runs."""
    found = sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))
    wanted = [name if name.startswith("bench_") else f"bench_{name}" for name in sys.argv[1:]]
    wanted = wanted or [name for name in found if name not in ON_REQUEST]
    unknown = sorted(set(wanted) - set(found))
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(found)}")
    for name in wanted:
        print(f"== {name}", flush=True)
        begun = time.monotonic()
        importlib.import_module(f"benchmarks.{name}").main()
        print(f"   ({time.monotonic() - begun:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
