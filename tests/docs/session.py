"""Running a page's examples: commands in this process, in a directory of their own, as on a terminal of 80 columns.

`bagpack` runs in this process, because starting Python and importing scikit-learn for each of a hundred commands would
take minutes. Everything else runs in a shell. Pipes and redirections between the two work as they do in one.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.conftest import LIMIT, free_port, run_here, served

PORT = "8765"  # of the explorer in the documentation; another one serves when it is taken


class Session:
    """One page: a directory, a Python namespace, and programs that were left running."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.running = contextlib.ExitStack()
        self.port = str(free_port())

    def __enter__(self) -> Session:
        self._restored = (os.getcwd(), dict(os.environ))
        os.chdir(self.directory)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        # One core: joblib then starts no workers, which would cost seconds for each command.
        os.environ.update(COLUMNS="80", LOKY_MAX_CPU_COUNT="1", PATH=path, XDG_CACHE_HOME=str(self.directory))
        return self

    def __exit__(self, *_: object) -> None:
        self.running.close()
        os.chdir(self._restored[0])
        os.environ.clear()
        os.environ.update(self._restored[1])

    def command(self, line: str) -> tuple[int, list[str]]:
        """Exit code of a command line, and what a terminal would show."""
        line = line.replace(PORT, self.port)
        if line.rstrip().endswith("&"):
            return self._start(line.rstrip().removesuffix("&"))
        shown = io.BytesIO()
        *stages, last = _split(_without_comment(line), "|")
        last, target = ([*_split(last, ">"), ""])[:2]
        stdin = b""
        code = 0
        for stage in stages:
            code, stdin = self._stage(stage, stdin, shown)
        if target:
            code, out = self._stage(last, stdin, shown)
            (self.directory / shlex.split(target)[0]).write_bytes(out)
        else:
            code, _ = self._stage(last, stdin, shown, on_terminal=True)
        text = shown.getvalue().decode().replace(self.port, PORT)
        return code, text.splitlines()

    def _stage(
        self, text: str, stdin: bytes, shown: io.BytesIO, on_terminal: bool = False
    ) -> tuple[int, bytes]:
        out = shown if on_terminal else io.BytesIO()
        if text.split()[:1] == ["bagpack"]:
            code = run_here(shlex.split(text.replace("\\\n", " "))[1:], stdin, out, shown)
        else:
            both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            done = subprocess.run(["bash", "-c", text], input=stdin, timeout=LIMIT, check=False, **both)
            code = done.returncode
            out.write(done.stdout)
        return code, b"" if on_terminal else out.getvalue()

    def _start(self, line: str) -> tuple[int, list[str]]:
        """The explorer, on the session's port: it is ready when it answers."""
        self.running.enter_context(served(*shlex.split(line)[1:], port=self.port))
        return 0, []

    def python(self, code: str, place: str) -> list[str]:
        """Run code in the page's namespace; what it printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, place, "exec"), self.names)
        return out.getvalue().splitlines()

    def interactive(self, text: str, place: str) -> str:
        """Run `>>>` examples in the page's namespace; what differs from what is shown."""
        example = doctest.DocTestParser().get_doctest(text, self.names, place, place, 0)
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        report = io.StringIO()
        doctest.DocTestRunner(optionflags=flags).run(example, out=report.write, clear_globs=False)
        self.names.update(example.globs)
        return report.getvalue()


_QUOTED = r"'[^']*'|\"[^\"]*\""


def _split(text: str, mark: str) -> list[str]:
    """Cut a command line at an unquoted mark."""
    pieces = re.findall(rf"(?:{_QUOTED}|[^{re.escape(mark)}'\"])+", text)
    return [piece.strip() for piece in pieces] if "&&" not in text else [text]


def _without_comment(line: str) -> str:
    return re.sub(rf"^((?:{_QUOTED}|[^'\"#])*?)\s+#.*$", r"\1", line, flags=re.DOTALL)
