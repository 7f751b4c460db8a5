"""What the benchmarks share: commands with their time and memory, the machine, and the generated parts of a page."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
DATA = HERE / "bench-data"
SHARED = HERE.parent / "shared" / "data"
PAGE = HERE / "docs" / "performance.md"
BAGPACK = [sys.executable, "-c", "from bagpack.cli import main; main()"]
LOOK_EVERY = 0.2
GIB = 1 << 30


def best(
    action: Callable[[], object], rounds: int = 3, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Seconds of the fastest of several runs, since other work may share the cores."""
    found = []
    for _ in range(rounds):
        begun = clock()
        action()
        found.append(clock() - begun)
    return min(found)


@dataclass(frozen=True)
class Run:
    """A command that has ended well."""

    seconds: float
    cpu: float  # seconds of all processes that it waited for
    memory: int  # at most, of all its processes together, beyond the page cache
    output: str


class TooLongError(Exception):
    """A command took longer than it was given."""


def run_watched(command: Sequence[str | Path], most: float = float("inf")) -> Run:
    """Run a command and watch the memory of its whole family of processes.

    After `most` seconds the processes are ended, and a TooLongError is raised.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        begun = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], cwd=HERE, stdout=out, stderr=errors)
        highest = 0

        ended = threading.Event()

        def look() -> None:
            nonlocal highest
            while not ended.wait(LOOK_EVERY):
                if time.perf_counter() - begun > most:
                    end_family(process.pid)
                highest = max(highest, family_memory(process.pid))

        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()
        _, status, used = os.wait4(process.pid, 0)
        code = process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - begun
        ended.set()
        watcher.join()
        out.seek(0)
        errors.seek(0)
        if code and seconds > most:
            raise TooLongError
        if code:
            raise RuntimeError(
                f"{' '.join(map(str, command[:6]))} … ended with {code}: {errors.read()[-2000:]}"
            )
        return Run(seconds, used.ru_utime + used.ru_stime, highest, out.read())


def end_family(process: int) -> None:
    """End a process and all its descendants."""
    import psutil

    with suppress(psutil.NoSuchProcess):
        top = psutil.Process(process)
        for each in [*top.children(recursive=True), top]:
            with suppress(psutil.NoSuchProcess):
                each.kill()


def family_memory(process: int) -> int:
    """Bytes of a process and its descendants that no file backs; what they share is counted once.

    Pages of memory-mapped files belong to the page cache: the system takes them back whenever it needs memory.
    Anonymous pages and shared memory (where joblib puts arrays for its workers) do not.
    """
    import psutil

    try:
        top = psutil.Process(process)
        family = [top, *top.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    return sum(_own_memory(each.pid) for each in family)


def _own_memory(process: int) -> int:
    import psutil

    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:  # it has just ended, or this is not Linux
        try:
            return int(psutil.Process(process).memory_full_info().uss) if not Path("/proc").exists() else 0
        except psutil.Error:
            return 0
    found = re.findall(r"^Pss_(?:Anon|Shmem): +(\d+) kB", text, re.MULTILINE)
    return 1024 * sum(map(int, found))


def peak_bytes() -> int:
    """The most memory that this process has had; 0 on Windows, which does not record it here."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux, ru_maxrss begins at the size of the process that started this one
        fields = dict(line.split(":", 1) for line in status.read_text(encoding="ascii").splitlines())
        return int(fields["VmHWM"].split()[0]) * 1024
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def tree_bytes(path: Path) -> int:
    """Bytes of a file, or of all files under a directory."""
    if path.is_file():
        return path.stat().st_size
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())


def drop_from_cache(path: Path) -> None:
    """Write files out and drop them from the page cache, so that the next reader finds them on the disk."""
    for file in [path] if path.is_file() else (each for each in path.rglob("*") if each.is_file()):
        with open(file, "rb") as opened:
            os.fsync(opened.fileno())
            if hasattr(os, "posix_fadvise"):  # Linux
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def machine() -> str:
    """The machine in a phrase, without its name."""
    import psutil

    memory = psutil.virtual_memory().total / GIB
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GiB of memory, {platform.system()}, "
        f"Python {platform.python_version()}"
    )


def human(size: float) -> str:
    """Bytes as MB or GB."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


def mib(size: float) -> str:
    """Memory in MiB."""
    return f"{size / (1 << 20):,.0f} MiB"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are numbers, aligned to the right."""
    lines = [f"| {' | '.join(header)} |", f"|---|{'---:|' * (len(header) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def for_readme(text: str) -> str:
    """A part of a page that `make docs` copies into the README."""
    return f"<!-- readme:begin -->\n{text.strip()}\n<!-- readme:end -->\n"


def write_generated(command: str, text: str, page: Path = PAGE) -> None:
    """Replace the text between the two marks of a command on a page."""
    begin, end = f"<!-- generated by: {command} -->", f"<!-- end: {command} -->"
    whole = page.read_text(encoding="utf-8")
    before, found, rest = whole.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{page.name} lacks the marks {begin} and {end}; put them where the table should be")
    page.write_text(f"{before}{begin}\n{text.strip()}\n{end}{after}", encoding="utf-8")
