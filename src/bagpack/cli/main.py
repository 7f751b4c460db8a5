"""The entry point: the commands, the options that all of them take, and errors as sentences."""

from __future__ import annotations

import errno
import os
import sys
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from bagpack.cli import corpus, count, demo, engines, find, learn, look
from bagpack.cli.options import Run, set_run
from bagpack.errors import BagpackError, UsageError

START, CORPUS, LOOK, COUNT, FIND, LEARN, ENGINES = (
    "Start here", "Corpus", "Look", "Count", "Find", "Learn", "Search engines as a source",
)  # fmt: skip
COMMANDS = {
    START: (demo.demo,),
    CORPUS: (corpus.index, corpus.info),
    LOOK: (look.contexts, look.serve),
    COUNT: (count.basis, count.vectors, count.check),
    FIND: (find.find, find.teach),
    LEARN: (learn.train, learn.predict, learn.explain, learn.evaluate, learn.reproduce),
    ENGINES: (engines.fetch,),
}
# Commands of earlier versions, and what to use instead.
GONE = {
    "plan": "bagpack index --dry-run lists the files that would be read",
    "verify": "bagpack info ARTEFACT --verify checks every file against its checksum",
    "forms": "bagpack fetch --dry-run prints the forms of all words",
    "queries": "bagpack fetch --dry-run prints the queries",
    "solve": "bagpack evaluate answers files of questions too",
    "similar": "bagpack find STORE --like W1 W2 finds pairs like one pair",
    "sketch": "bagpack serve STORE shows words and pairs in the browser",
    "relations": "bagpack serve STORE shows the collocates of a word by pattern",
    "compare": "bagpack contexts STORE W1 [W2] --by ATTRIBUTE counts in each part of a corpus",
    "agree": "put both tables into one file; bagpack check STORE FILE lists pairs with several labels",
    "export": "bagpack find --out F.ttl writes SKOS Turtle, --out F.xlsx a workbook",
}
# Options of all commands, and whether they have a value.
GLOBAL = {"--jobs": True, "-j": True, "--backend": True, "--address": True, "--quiet": False, "-q": False}
KEPT = {
    "fetch": "answers are kept: run the same command to continue",
    "demo": "finished steps are kept: run the same command to continue",
}
# What no command has to expect of a path that someone named.
UNUSABLE = (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR)
LEAST_FILES = 32  # open at the same time, with one worker


class ReaderGoneError(Exception):
    """The reader of our output closed the pipe (`| head`)."""


class InterruptedWork(BagpackError):  # noqa: N818
    """Ctrl-C."""

    exit_code = 130


class Command(TyperCommand):
    """A command whose usage has its arguments without braces."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The arguments as the documentation writes them; typer has `{MODEL}`."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


class Commands(TyperGroup):
    """The commands in their groups; the options of all commands may be given before or after one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, with the options of all commands first."""
        own, rest = split_global(args)
        return super().parse_args(ctx, [*own, *rest])

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name; one of an earlier version is an error that says what to use."""
        if cmd_name in GONE and not ctx.resilient_parsing:
            raise UsageError(f"there is no command {cmd_name} any more; {GONE[cmd_name]}")
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands of each group, a line each."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            panel = getattr(command, "rich_help_panel", None)
            groups.setdefault(str(panel), []).append((name.ljust(8), command.get_short_help_str(68)))
        for panel, rows in groups.items():
            with formatter.section(panel):
                formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named; an interrupted one says what is kept."""
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


def split_global(args: list[str]) -> tuple[list[str], list[str]]:
    """The options of all commands, wherever they are, and the other arguments.

    >>> split_global(["index", "texts", "--jobs", "2", "-q", "--out", "my.bp"])
    (['--jobs', '2', '-q'], ['index', 'texts', '--out', 'my.bp'])
    """
    own: list[str] = []
    rest: list[str] = []
    left = iter(args)
    for word in left:
        name, equals, _ = word.partition("=")
        if word == "--":
            return own, [*rest, word, *left]
        if name in GLOBAL or word[:2] == "-j":
            own.append(word)
            if GLOBAL.get(word) and not equals:
                own += [value for value in [next(left, None)] if value is not None]
        else:
            rest.append(word)
    return own, rest


app = typer.Typer(
    name="bagpack",
    cls=Commands,
    help="Find the relation between two words in a corpus, the sentences that show it, and more pairs like them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help is printed in half the time
    subcommand_metavar="COMMAND",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        from bagpack import __version__

        typer.echo(f"bagpack {__version__}")
        raise typer.Exit


@app.callback()
def _all_commands(
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", help="Worker processes; -1 for one per core.")
    ] = None,
    backend: Annotated[
        Literal["loky", "dask", "ray", "spark"] | None,
        typer.Option("--backend", metavar="NAME", help="Workers: loky (this machine), dask, ray or spark."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option("--address", metavar="URL", help="The backend's scheduler, such as tcp://host:8786."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of all commands, before or after the command."""
    set_run(Run(jobs, backend, address, quiet))


EPILOG = "All commands take --jobs, --backend, --address and --quiet too."
for _panel, _functions in COMMANDS.items():
    for _function in _functions:
        app.command(cls=Command, rich_help_panel=_panel, no_args_is_help=_panel != START, epilog=EPILOG)(
            _function
        )
_engine = typer.Typer(
    help="Build a search index from a corpus.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)
_engine.command(cls=Command, no_args_is_help=True, epilog=EPILOG)(engines.build)
_engine.callback()(lambda: None)  # keeps `build` a command of its own name, although it is the only one
app.add_typer(_engine, name="engine", rich_help_panel=ENGINES)


def _compiling() -> None:
    from bagpack.kernels import COMPILING

    if sys.stderr.isatty():  # a log has no reader who waits
        print(COMPILING, file=sys.stderr)


def _interrupt_again(lost: Any) -> None:
    """Ctrl-C inside a callback of LLVM cannot be raised there: it comes again afterwards, and nothing is printed."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    import signal
    import threading

    # A little later, since it would be raised in here; a real signal, since the main thread may be waiting.
    threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()


def main() -> None:
    """Run the command; any error is a sentence and an exit code."""
    import gc
    import warnings

    from bagpack.kernels import on_compile, skip_blas
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
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _interrupt_again
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
            code, message = 2, _wrong_usage(error)
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


def _wrong_usage(error: Any) -> str:
    """Typer's message as a sentence, with the usage of the command; without arguments, the help is printed instead."""
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message(), file=sys.stderr)
        return ""
    text = " ".join(str(error.format_message()).split()).rstrip(".")
    sentence = text[:1].lower() + text[1:] + _value_of(getattr(error, "param", None))
    context = getattr(error, "ctx", None)
    if context is None:
        return sentence
    usage = context.get_usage().removeprefix("Usage: ")
    return f"{sentence}\n  usage: {' '.join(usage.split())}\n  {context.command_path} --help describes it"


def _value_of(parameter: Any) -> str:
    """The value that was given for an option, in brackets, if it can be seen."""
    for at, word in enumerate(sys.argv):
        name, equals, value = word.partition("=")
        if name in getattr(parameter, "opts", ()):
            given = value if equals else next(iter(sys.argv[at + 1 : at + 2]), "")
            return f" ({name} {given})" if given else ""
    return ""


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
    from bagpack.console import clean

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
