"""The `bagpack` command: one module per command, each a few lines over public functions.

A command's module is imported when that command is asked for, and nothing heavy until it runs.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import Any

import typer

from bagpack.cli import command
from bagpack.cli.usage import wrong_usage
from bagpack.console import clean
from bagpack.errors import BagpackError

KEPT = {
    "fetch": "answers are kept: run the same command to continue",
    "demo": "finished steps are kept: run the same command to continue",
}

# What no command has to expect of a path that someone named.
UNUSABLE = (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR)

LEAST_FILES = 32  # open at the same time, with one worker

COMMANDS = {
    command.FIRST: ("demo",),
    command.CORPUS: ("index", "plan", "info", "verify"),
    command.COUNTING: ("contexts", "basis", "vectors", "check"),
    command.FINDING: ("find", "teach", "relations", "agree", "export"),
    command.LEARNING: ("evaluate", "solve", "train", "predict", "reproduce"),
    command.REASONS: ("explain", "similar", "sketch", "compare", "serve"),
    command.ENGINES: ("forms", "queries", "fetch", "engine"),
}


class ReaderGoneError(Exception):
    """The reader of our output closed the pipe (`| head`)."""


class InterruptedWork(BagpackError):  # noqa: N818
    """Ctrl-C."""

    exit_code = 130


class Commands(command.Group):
    """The commands; an interrupted one says what is kept."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = command.LazyCommands("bagpack.cli", COMMANDS)  # type: ignore[assignment]

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # typer would exit with 1
            raise ReaderGoneError from None
        except (KeyboardInterrupt, InterruptedWork) as error:
            command = ctx.invoked_subcommand  # the demo runs other commands; its own message is shown
            if command in ("serve", "teach"):  # their own message has said how to stop them
                raise
            kept = "" if "-" in sys.argv else KEPT.get(command, "")
            kept = kept or str(error)  # what the command itself says
            raise InterruptedWork("interrupted" + (f"; {kept}" if kept else "")) from None


app = typer.Typer(
    name="bagpack",
    cls=Commands,
    help="Find the relation between two words in a corpus, the sentences that show it, and more pairs like them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        from bagpack import __version__

        typer.echo(f"bagpack {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """Options before the command."""


def _compiling() -> None:
    from bagpack.compiling import compile_elsewhere
    from bagpack.jit import COMPILING

    if sys.stderr.isatty():  # a log has no reader who waits
        print(COMPILING, file=sys.stderr)
    compile_elsewhere()


def main() -> None:
    """Run the command; any error is a sentence and an exit code."""
    import gc
    import warnings

    from bagpack.jit import on_compile, skip_blas
    from bagpack.signals import end_on_signals, exit_code

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell (>&-): what is written goes nowhere
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    if message := _too_few_files():
        _complain(message)
        sys.exit(1)
    end_on_signals()
    # Imports and numba make many objects that stay: looking for cycles among them takes 5 % of the first run.
    gc.set_threshold(50_000, 20, 20)
    skip_blas()

    on_compile(_compiling)
    # loky replaces workers whose memory grew; the result is the same.
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
    warnings.filterwarnings("ignore", message=r"In \d+ of \d+ folds")  # the result has it as a note
    warnings.formatwarning = lambda message, *_: f"bagpack: {message}\n"
    code = 0
    try:
        try:
            code = app(standalone_mode=False) or 0
        finally:
            sys.stdout.flush()  # a full disk is reported here, not by the interpreter as it exits
    except BagpackError as error:
        code, message = exit_code(error.exit_code), str(error)
    except KeyboardInterrupt:
        code, message = exit_code(130), "interrupted"
    except (ReaderGoneError, BrokenPipeError):
        _drop_output()
        sys.exit(0)
    except MemoryError:
        code, message = 1, "memory ran out; give fewer --jobs or a smaller --memory"
    except Exception as error:
        if hasattr(error, "format_message"):  # typer's, whose classes differ between its versions
            code, message = 2, wrong_usage(error)
        elif os.environ.get("BAGPACK_TRACEBACK"):
            raise
        else:
            code, message = 1, _unexpected(error)
    else:
        if code:
            sys.exit(code)
        return
    if message:
        _complain(message)
    sys.exit(code)


def _too_few_files() -> str:
    """A message if this process may open so few files that not even imports would work; else nothing."""
    try:
        import resource
    except ImportError:  # Windows
        return ""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed == resource.RLIM_INFINITY or allowed >= LEAST_FILES:
        return ""
    return (
        f"this process may open {allowed} files at a time, and bagpack needs {LEAST_FILES}; raise the limit "
        f"(ulimit -n 4096) and run the command again"
    )


def _unexpected(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        _drop_output()
        return "the disk is full: the output could not be written; free some space there and run the command again"
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        from bagpack.files import too_many_files

        return str(too_many_files(error.filename or "a file"))
    if isinstance(error, OSError) and error.errno in UNUSABLE and error.filename:
        return f"{error.filename} cannot be used: {error.strerror}; check the name and the permissions"
    if isinstance(error, UnicodeEncodeError) and "surrogates" in error.reason:
        return "a word or a name holds bytes that are not UTF-8; correct the word, or rename the file or directory"
    what = f"{type(error).__name__}: {error}"
    return f"unexpected error ({what}); please report it with the output of BAGPACK_TRACEBACK=1"


def _drop_output() -> None:
    """Discard what is buffered for standard output, so that the interpreter does not try to write it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str) -> None:
    """Print an error on standard error; on a terminal it is wrapped between words."""
    text = f"bagpack: {clean(message)}"
    if sys.stderr.isatty():
        import shutil
        import textwrap

        width = shutil.get_terminal_size().columns
        text = "\n".join(
            textwrap.fill(
                line, width, break_long_words=False, break_on_hyphens=False,
                subsequent_indent="    " if line.startswith("  ") else "",
            )
            for line in text.split("\n")
        )  # fmt: skip
    print(text, file=sys.stderr)
