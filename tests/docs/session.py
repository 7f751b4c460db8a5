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
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.conftest import LIMIT, free_port, serving_command

PORT = "8765"  # of the explorer in the documentation; another one serves when it is taken


class Session:
    """One page: a directory, a Python namespace, and programs that were left running."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.running: list[subprocess.Popen[bytes]] = []
        self.port = str(free_port())

    def __enter__(self) -> Session:
        self._restored = (os.getcwd(), dict(os.environ))
        os.chdir(self.directory)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        # One core: joblib then starts no workers, which would cost seconds for each command.
        os.environ.update(COLUMNS="80", LOKY_MAX_CPU_COUNT="1", PATH=path, XDG_CACHE_HOME=str(self.directory))
        return self

    def __exit__(self, *_: object) -> None:
        for program in self.running:
            program.terminate()
            program.wait(LIMIT)
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
            code = _bagpack(shlex.split(text.replace("\\\n", " "))[1:], stdin, out, shown)
        else:
            both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            done = subprocess.run(["bash", "-c", text], input=stdin, timeout=LIMIT, check=False, **both)
            code = done.returncode
            out.write(done.stdout)
        return code, b"" if on_terminal else out.getvalue()

    def _start(self, line: str) -> tuple[int, list[str]]:
        """The explorer, on the session's port: it is ready when it answers."""
        command = serving_command(*shlex.split(line)[1:], "--port", self.port)
        program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.running.append(program)
        until = time.monotonic() + LIMIT
        while program.poll() is None and time.monotonic() < until:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", int(self.port)), 0.2):
                return 0, []
            time.sleep(0.1)
        assert program.stdout is not None
        program.terminate()
        return 1, program.stdout.read().decode().splitlines()

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


def _bagpack(args: list[str], stdin: bytes, out: io.BytesIO, err: io.BytesIO) -> int:
    from bagpack.cli import main

    before = sys.argv, sys.stdin, sys.stdout, sys.stderr
    streams = {id(stream): stream for stream in (out, err)}
    wrapped = {
        own: io.TextIOWrapper(stream, encoding="utf-8", write_through=True) for own, stream in streams.items()
    }
    sys.argv = ["bagpack", *args]
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    sys.stdout, sys.stderr = wrapped[id(out)], wrapped[id(err)]
    try:
        main()
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = before
        for stream in wrapped.values():
            stream.detach()
    return code


_QUOTED = r"'[^']*'|\"[^\"]*\""


def _split(text: str, mark: str) -> list[str]:
    """Cut a command line at an unquoted mark."""
    pieces = re.findall(rf"(?:{_QUOTED}|[^{re.escape(mark)}'\"])+", text)
    return [piece.strip() for piece in pieces] if "&&" not in text else [text]


def _without_comment(line: str) -> str:
    return re.sub(rf"^((?:{_QUOTED}|[^'\"#])*?)\s+#.*$", r"\1", line, flags=re.DOTALL)
