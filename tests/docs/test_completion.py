"""Shell completion, in a real shell."""

import os
import shutil
import subprocess
import sys

TYPED = {
    "bagpack ex": "explain",
    "bagpack index --app": "--append",
    "bagpack engine b": "build",
    "bagpack evaluate my.bp data.tsv --preset mo": "modern",
    "bagpack --backend da": "dask",
}


def test_bash_completes_commands_and_options(tmp_path):
    """With a `bagpack` on the path, and a home of its own."""
    command = tmp_path / "bagpack"
    command.write_text(f"#!{sys.executable}\nfrom bagpack.cli import main\nmain()\n")
    command.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(tmp_path), "SHELL": shutil.which("bash")}
    # Two commands: a shell would become a single one, and no longer be there to be recognised.
    script = 'completion=$(bagpack --show-completion && true)\neval "$completion"\n'
    for typed in TYPED:
        place = f"COMP_CWORD={len(typed.split(' ')) - 1}; COMP_LINE='{typed}'; COMP_POINT={len(typed)}"
        script += f'COMP_WORDS=({typed}); {place}; _bagpack_completion bagpack\necho "${{COMPREPLY[@]}}"\n'
    bash = ["bash", "--norc", "--noprofile", "-c", script]
    done = subprocess.run(bash, env=environment, capture_output=True, text=True, timeout=300, check=True)
    for expected, given in zip(TYPED.values(), done.stdout.splitlines(), strict=True):
        assert expected in given.split()
