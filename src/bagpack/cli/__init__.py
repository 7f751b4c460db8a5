"""The `bagpack` command: thin files over public functions.

Nothing heavy is imported until a command runs, so that `bagpack --help` answers at once.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import Any

import typer

from bagpack.cli import checking, corpus, demo, engines, explaining, learning, serving, vectors
from bagpack.cli.shape import Group
from bagpack.errors import BagpackError

KEPT = {
    "index": "what is finished is kept: the same command with --resume goes on",
    "fetch": "what was answered is kept: the same command goes on",
    "demo": "what is finished is kept: the same command goes on",
}


class InterruptedWork(BagpackError):  # noqa: N818
    """Ctrl-C."""

    exit_code = 130


class Commands(Group):
    """The commands; typer by itself would end an interrupted one without a word."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, InterruptedWork):  # the demo runs other commands, and its own word counts
            command = ctx.invoked_subcommand
            if command == "serve":  # it says how it is ended
                raise
            kept = "" if "-" in sys.argv else KEPT.get(command, "")
            raise InterruptedWork("interrupted" + (f"; {kept}" if kept else "")) from None


app = typer.Typer(
    name="bagpack",
    cls=Commands,
    help="What relation holds between two words in a corpus, and which sentences say so.",
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
    """Options that stand before the command."""


demo.register(app)
corpus.register(app)
vectors.register(app)
checking.register(app)
learning.register(app)
explaining.register(app)
serving.register(app)
engines.register(app)


def main() -> None:
    """Run the command; whatever goes wrong ends in a sentence and an exit code."""
    import warnings

    # loky replaces workers that grew; the work goes on and the result is the same, so there is nothing to tell.
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # a full disk is told here, not by the interpreter on its way out
    except BagpackError as error:
        code, message = error.exit_code, str(error)
    except KeyboardInterrupt:
        code, message = 130, "interrupted"
    except BrokenPipeError:
        # The reader of our output went away (`| head`): nothing to say, and nowhere to say it.
        _drop_output()
        sys.exit(0)
    except MemoryError:
        code, message = 1, "memory ran out; give fewer --jobs or a smaller --memory"
    except Exception as error:
        if os.environ.get("BAGPACK_TRACEBACK"):
            raise
        code, message = 1, _unforeseen(error)
    else:
        return
    _complain(message)
    sys.exit(code)


def _unforeseen(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        _drop_output()
        return "the disk is full: the output could not be written; free some space there and run the command again"
    where = f"{type(error).__name__}: {error}"
    return f"something unforeseen went wrong ({where}); BAGPACK_TRACEBACK=1 shows where, please report it"


def _drop_output() -> None:
    """What is still buffered for standard output goes nowhere, so that the interpreter does not try again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str) -> None:
    """A sentence on standard error, or a list below one; a terminal would break it within words."""
    text = f"bagpack: {message}"
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
