"""What the first run compiles, for indexing, counting and evaluation, with an empty cache.

`python -m benchmarks compile`. Each stage is a command, as a new user runs them: a kernel that an earlier one compiled
comes from the cache. First the seconds that the user waits for: those of the first run less those of the second. Then
the CPU seconds of every kernel, all compiled by one process and without those of the kernels that it calls.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STAGES = {
    "index": "index text.txt --out store.bp --jobs 1 -q",
    "count": "vectors store.bp pairs.tsv --out m.bpm --jobs 1 -b 20 -q",
    "evaluate": "evaluate m.bpm data.tsv --json",
}
AGAIN = {"index": " --overwrite", "count": " --overwrite", "evaluate": ""}


def main() -> None:
    """What each stage waits for, a table of its kernels, and the sums."""
    total = waited = 0.0
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        _write_material(place)
        for stage, command in STAGES.items():
            first, second = (_seconds(place, command + end) for end in ("", AGAIN[stage]))
            waited += first - second
            print(f"   {stage}: {first:.1f} s, the second time {second:.1f} s", flush=True)
    print(f"   all: {waited:.1f} s longer the first time (aim: 10 s)")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        _write_material(place)
        for stage, command in STAGES.items():
            found = run_stage(place, command)
            own = sum(seconds for _, seconds in found["kernels"])
            total += own
            print(f"   {stage}: {own:.1f} s of {found['cpu']:.1f} s of CPU", flush=True)
            for kernel, seconds in found["kernels"]:
                if seconds >= 0.1:
                    print(f"      {seconds:5.2f}  {kernel}")
    print(f"   all: {total:.1f} s of CPU")


def _seconds(place: Path, command: str) -> float:
    begun = time.perf_counter()
    _run(place, "bagpack", command)
    return time.perf_counter() - begun


def run_stage(place: Path, command: str) -> dict:
    """Run a command with the cache of the stages before it; every kernel with its CPU seconds, largest first."""
    return json.loads(_run(place, "benchmarks.bench_compile", command).splitlines()[-1])


def _run(place: Path, module: str, command: str) -> str:
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(place / "cache"),
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "OMP_NUM_THREADS": "1",
    }
    words = [sys.executable, "-m", module, *command.split()]
    done = subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return done.stderr


def watched() -> None:
    """In a process of its own: the command, and what it compiled on standard error."""
    from numba.core import event

    own: dict[str, float] = {}
    open_events: list[list[float]] = []

    class Listener(event.Listener):
        def on_start(self, event):
            open_events.append([time.process_time(), 0.0])

        def on_end(self, event):
            begun, inner = open_events.pop()
            seconds = time.process_time() - begun
            function = event.data["dispatcher"].py_func
            name = f"{function.__module__}.{function.__qualname__}"
            own[name] = own.get(name, 0.0) + seconds - inner
            if open_events:
                open_events[-1][1] += seconds

    event.register("numba:compile", Listener())
    from bagpack.cli import main as command

    begun = time.process_time()
    try:
        command()
    except SystemExit as stop:
        if stop.code:
            raise
    cpu = time.process_time() - begun
    kernels = sorted(own.items(), key=lambda item: -item[1])
    print(json.dumps({"cpu": cpu, "kernels": kernels}), file=sys.stderr)


def _write_material(place: Path) -> None:
    rng = random.Random(1)
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnrst"]
    lines = [" ".join(rng.choices(words, k=12)).capitalize() + "." for _ in range(2000)]
    (place / "text.txt").write_text("\n".join(lines))
    pairs = [(rng.choice(words), rng.choice(words)) for _ in range(60)]
    (place / "pairs.tsv").write_text("w1\tw2\n" + "".join(f"{a}\t{b}\n" for a, b in pairs))
    labelled = "".join(f"{a}\t{b}\t{'xyz'[n % 3]}\n" for n, (a, b) in enumerate(pairs))
    (place / "data.tsv").write_text("w1\tw2\tlabel\n" + labelled)


if __name__ == "__main__":
    watched()
