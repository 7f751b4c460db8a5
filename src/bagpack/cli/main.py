"""The entry point: the commands, the options that all of them take, and errors as sentences."""

from __future__ import annotations

import errno
import os
import resource
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from bagpack.cli import corpus, count, demo, engines, find, learn, look
from bagpack.cli import options as opt
from bagpack.cli.options import flag, value
from bagpack.errors import BagpackError, UsageError

ENGINES = "Search engines as a source"
COMMANDS = {
    "Start here": (demo.demo,),
    "Corpus": (corpus.index, corpus.info),
    "Look": (look.contexts, look.serve),
    "Count": (count.basis, count.vectors, count.check),
    "Find": (find.find, find.teach),
    "Learn": (learn.train, learn.predict, learn.explain, learn.evaluate, learn.reproduce),
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
LEAST_SPACE = 10**9  # bytes of address space: compiling a kernel in 540 MB never ended
COMPLETION = "_BAGPACK_COMPLETE"  # set by a shell that asks for completions
EPILOG = "All commands take --jobs, --backend, --address and --quiet too."


class Commands(TyperGroup):
    """The commands in their groups; the options of all commands may be given before or after one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, with the options of all commands first."""
        own: list[str] = []
        rest: list[str] = []
        left = iter(args)
        for word in left:
            if word == "--":
                rest += [word, *left]
            elif word.partition("=")[0] in GLOBAL or word.startswith("-j"):
                own += [word, *([next(left, "")] if GLOBAL.get(word) else [])]
            else:
                rest.append(word)
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


PLAIN: dict[str, Any] = {"no_args_is_help": True, "rich_markup_mode": None}  # plain help takes half the time
app = typer.Typer(
    name="bagpack",
    cls=Commands,
    help="Find the relation between two words in a corpus, the sentences that show it, and more pairs like them.",
    subcommand_metavar="COMMAND",
    context_settings={"help_option_names": ["-h", "--help"]},
    **PLAIN,
)


def _version(wanted: bool) -> None:
    if wanted:
        from bagpack import __version__

        typer.echo(f"bagpack {__version__}")
        raise typer.Exit


@app.callback()
def _all_commands(
    jobs: Annotated[int, value("N", "Worker processes; -1 for one per core.", "--jobs", "-j")] = -1,
    backend: Annotated[
        Literal["loky", "dask", "ray", "spark"] | None,
        value("NAME", "Workers: loky (this machine), dask, ray or spark."),
    ] = None,
    address: Annotated[str | None, value("URL", "The backend's scheduler, such as tcp://host:8786.")] = None,
    quiet: Annotated[bool, flag("--quiet", "No progress, no summary.", "-q")] = False,
    version: Annotated[
        bool, flag("--version", "Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options of all commands, before or after the command."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= allowed < LEAST_SPACE:  # BLAS and LLVM would end the process, or raise what says nothing of it
        raise BagpackError(f"ulimit -v allows only {allowed >> 20} MiB of address space; allow 1 GB or more")
    opt.run.jobs, opt.run.backend, opt.run.address, opt.run.quiet = jobs, backend, address, quiet


for _panel, _functions in COMMANDS.items():
    for _function in _functions:
        app.command(rich_help_panel=_panel, no_args_is_help=_function is not demo.demo, epilog=EPILOG)(
            _function
        )
_engine = typer.Typer(help="Build a search index from a corpus.", add_completion=False, **PLAIN)
_engine.command(no_args_is_help=True, epilog=EPILOG)(engines.build)
_engine.callback()(lambda: None)  # keeps `build` a command of its own name, although it is the only one
app.add_typer(_engine, name="engine", rich_help_panel=ENGINES)


def run_command(args: Sequence[str]) -> None:
    """Run a command; errors, Ctrl-C and a closed pipe are raised as they are, which typer's own way does not do."""
    if COMPLETION in os.environ:
        app(args)
    command = typer.main.get_command(app)
    with command.make_context("bagpack", list(args)) as context:
        command.invoke(context)


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
    import warnings

    from bagpack.signals import end_on_signals, exit_code

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the shell (>&-): what is written goes nowhere
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    end_on_signals()
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _interrupt_again
    # loky replaces workers whose memory grew; the result is the same.
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
    warnings.filterwarnings("ignore", message=r"In \d+ of \d+ folds")  # the result has it as a note
    warnings.formatwarning = lambda message, *_: f"bagpack: {message}\n"
    try:
        try:
            run_command(sys.argv[1:])
        finally:
            sys.stdout.flush()  # a full disk is reported here, not by the interpreter as it exits
    except typer.Exit as done:
        sys.exit(done.exit_code)
    except BagpackError as error:
        _fail(str(error), error.exit_code)
    except KeyboardInterrupt as error:
        _fail("; ".join(["interrupted", *map(str, error.args)]), exit_code(130))
    except BrokenPipeError:  # the reader of our output has exited (`| head`)
        _drop_output()
    except Exception as error:
        if os.environ.get("BAGPACK_TRACEBACK"):
            raise
        if hasattr(error, "format_message"):  # typer's, whose classes differ between its versions
            _wrong_usage(error)
        _fail(_unexpected(error), 1)


def _wrong_usage(error: Any) -> None:
    """Typer's message, with the usage of the command; without arguments, the help is printed instead."""
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message(), file=sys.stderr)
        sys.exit(2)
    text = " ".join(error.format_message().split())
    for word, after in pairwise([*sys.argv, ""]):  # typer does not always name the value
        name, equals, given = word.partition("=")
        if name in getattr(getattr(error, "param", None), "opts", ()):
            text += f" ({name} {given if equals else after})"
    if error.ctx is not None:
        text += f"\n  {error.ctx.get_usage()}\n  {error.ctx.command_path} --help describes it"
    _fail(text, 2)


def _unexpected(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "memory ran out; give fewer --jobs or a smaller --memory"
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        _drop_output()
        return "the disk is full: the output could not be written; free some space there and run the command again"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename} cannot be used: {error.strerror}; check the name and the permissions"
    if isinstance(error, UnicodeEncodeError) and "surrogates" in error.reason:
        return "a word or a name holds bytes that are not UTF-8; correct the word, or rename the file or directory"
    if isinstance(error, UnicodeEncodeError):
        letter = error.object[error.start]
        return (
            f"{letter!a} cannot be written in {error.encoding}; set PYTHONIOENCODING=utf-8 and run it again"
        )
    if isinstance(error, FileNotFoundError):  # without a name: of getcwd
        return "the working directory does not exist any more; change to another one (cd)"
    what = f"{type(error).__name__}: {error}"
    return f"unexpected error ({what}); please report it with the output of BAGPACK_TRACEBACK=1"


def _drop_output() -> None:
    """Discard what is buffered for standard output, so that the interpreter does not try to write it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> None:
    from bagpack.console import clean
    from bagpack.engines.base import hide_credentials

    print(f"bagpack: {clean(hide_credentials(message))}", file=sys.stderr)
    sys.exit(code)
