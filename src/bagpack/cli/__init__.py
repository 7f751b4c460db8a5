"""The `bagpack` command: thin files over public functions.

Nothing heavy is imported until a command runs, so that `bagpack --help` answers at once.
"""

from __future__ import annotations

import os
import sys

import typer

from bagpack.cli import ablating, corpus, demo, engines, explaining, learning, serving, vectors

app = typer.Typer(
    name="bagpack",
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


corpus.register(app)
vectors.register(app)
learning.register(app)
ablating.register(app)
explaining.register(app)
serving.register(app)
engines.register(app)
demo.register(app)


def main() -> None:
    """Run the command; whatever goes wrong ends in a sentence and an exit code."""
    import warnings

    from bagpack.errors import BagpackError

    # loky replaces workers that grew; the work goes on and the result is the same, so there is nothing to tell.
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
    try:
        app()
    except BagpackError as error:
        code, message = error.exit_code, str(error)
    except KeyboardInterrupt:
        code, message = 130, "interrupted; what was finished is kept where --resume is offered"
    except BrokenPipeError:
        # The reader of our output went away (`| head`): nothing to say, and nowhere to say it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        code, message = 1, "memory ran out; give fewer --jobs or a smaller --memory"
    except Exception as error:
        if os.environ.get("BAGPACK_TRACEBACK"):
            raise
        where = f"{type(error).__name__}: {error}"
        code, message = (
            1,
            f"something unforeseen went wrong ({where}); BAGPACK_TRACEBACK=1 shows where, please report it",
        )
    else:
        return
    print(f"bagpack: {message}", file=sys.stderr)
    sys.exit(code)
