"""Running a page's examples: commands in this process, in a directory of their own, as on a terminal of 80 columns.

`bagpack` runs in this process, because starting Python and importing scikit-learn for each of a hundred commands would
take minutes. Everything else runs in a shell. Pipes and redirections between the two work as they do in one.
"""

import contextlib
import doctest
import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LIMIT, free_port, run_here, served

PORT = "8765"  # of the explorer in the documentation; another one serves when it is taken


class Session:
    """One page: a directory, a Python namespace, and programs that were left running."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.names = {"__name__": "__main__"}
        self.running = contextlib.ExitStack()
        self.port = str(free_port())

    def __enter__(self):
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.patch = pytest.MonkeyPatch()
        self.patch.chdir(self.directory)
        # One core: joblib then starts no workers, which would cost seconds for each command.
        how = {"COLUMNS": 80, "LOKY_MAX_CPU_COUNT": 1, "PATH": path, "XDG_CACHE_HOME": self.directory}
        for name, value in how.items():
            self.patch.setenv(name, str(value))
        return self

    def __exit__(self, *_):
        self.running.close()
        self.patch.undo()

    def command(self, line: str) -> tuple[int, list[str]]:
        """Exit code of a command line, and what a terminal would show."""
        line = line.replace(PORT, self.port)
        if line.rstrip().endswith("&"):
            arguments = shlex.split(line.rstrip().removesuffix("&"))[1:]
            self.running.enter_context(served(*arguments, port=self.port))  # it is ready when it answers
            return 0, []
        shown = io.BytesIO()
        if line.startswith("bagpack"):
            lexer = shlex.shlex(line.replace("\\\n", " "), posix=True, punctuation_chars="|>")
            lexer.whitespace_split = True
            words = list(lexer)  # without a comment
            cut = next((at for at, word in enumerate(words) if word in ("|", ">")), len(words))
            out = shown if cut == len(words) else io.BytesIO()
            code = run_here(words[1:cut], b"", out, shown)
            if cut < len(words):
                then, piped = self._shell(f"cat {words[cut]} {shlex.join(words[cut + 1 :])}", out.getvalue())
                code = code or then
                shown.write(piped)
        else:
            code, out = self._shell(line)
            shown.write(out)
        return code, shown.getvalue().decode().replace(self.port, PORT).splitlines()

    def _shell(self, text, stdin=b""):
        both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(["bash", "-c", text], input=stdin, timeout=LIMIT, check=False, **both)
        return done.returncode, done.stdout

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
