"""Shell completion, in a real shell."""

import os
import shutil
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def bash(tmp_path_factory):
    """Run a script in bash, with a `bagpack` on the path, and a home of its own."""
    home = tmp_path_factory.mktemp("home")
    command = home / "bagpack"
    command.write_text(f"#!{sys.executable}\nfrom bagpack.cli import main\nmain()\n")
    command.chmod(0o755)
    path = f"{home}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(home), "SHELL": shutil.which("bash")}

    def run(script):
        command = ["bash", "--norc", "--noprofile", "-c", script]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def completion(bash):
    # Two commands: a shell would become a single one, and no longer be there to be recognised.
    return bash("bagpack --show-completion && true")


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
def test_bash_completes_commands_and_options(bash, completion, typed, expected):
    words = len(typed.split(" "))
    script = (
        f"{completion}\n"
        f"COMP_WORDS=({typed}); COMP_CWORD={words - 1}; COMP_LINE='{typed}'; COMP_POINT={len(typed)}\n"
        '_bagpack_completion bagpack\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    assert expected in bash(script).split()
