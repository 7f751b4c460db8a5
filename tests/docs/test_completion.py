"""Shell completion, in real shells."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A `bagpack` on the path, and a home of its own."""
    home = tmp_path_factory.mktemp("home")
    command = home / "bagpack"
    command.write_text(f"#!{sys.executable}\nfrom bagpack.cli import main\nmain()\n")
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{home}{os.pathsep}{os.environ['PATH']}", "HOME": str(home)}


@pytest.fixture(scope="module")
def for_bash(environment):
    """What `bagpack --show-completion` prints in bash, to be evaluated there."""
    # Two commands: a shell would become a single one, and no longer be there to be recognised.
    return run("bash", "bagpack --show-completion && true", environment)


def run(shell, script, environment):
    done = subprocess.run(
        [shell, *(["--norc", "--noprofile"] if shell == "bash" else []), "-c", script],
        env={**environment, "SHELL": shutil.which(shell)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "typed, expected",
    [
        ("bagpack ex", "explain"),
        ("bagpack index --app", "--append"),
        ("bagpack engine b", "build"),
        ("bagpack evaluate my.bp data.tsv --preset mo", "modern"),
        ("bagpack --backend da", "dask"),
    ],
)
def test_bash_completes_commands_and_options(environment, for_bash, typed, expected):
    words = typed.split(" ")
    script = (
        f"{for_bash}\n"
        f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; COMP_LINE='{typed}'; COMP_POINT={len(typed)}\n"
        "_bagpack_completion bagpack\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    assert expected in run("bash", script, environment).split()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_accept_the_completion(environment, shell):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed: apt install {shell}")
    for typed, expected in (("bagpack ex", "explain"), ("bagpack index --app", "--append")):
        variables = {
            "zsh": {"_BAGPACK_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": typed},
            "fish": {
                "_BAGPACK_COMPLETE": "complete_fish",
                "_TYPER_COMPLETE_ARGS": typed,
                "_TYPER_COMPLETE_FISH_ACTION": "get-args",
                "_TYPER_COMPLETE_WORD_TO_COMPLETE": typed.split()[-1],
            },
        }[shell]
        assert expected in run(shell, "bagpack", {**environment, **variables})


def test_installing_writes_into_the_home_directory_only(environment):
    run("bash", "bagpack --install-completion && true", environment)  # two commands, as above
    written = [
        path.relative_to(environment["HOME"])
        for path in Path(environment["HOME"]).rglob("*")
        if path.is_file()
    ]
    assert any("bash" in str(path) for path in written)
