"""Build sdist and wheel into dist/, check them, install the wheel into a clean environment, and use it. `make release`.

The wheel is also run without installing it, by `pipx run` and `uvx`, as the documentation recommends. Nothing is
uploaded. Installing needs the package index, for the dependencies and for pipx and uv.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def run(*command: str | Path, **more: object) -> str:
    """Run a command; its output is shown if it fails."""
    print("  " + " ".join(str(part) for part in command), flush=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nthis failed with {done.returncode}: {command[0]}")
    return str(done.stdout)


def build() -> list[Path]:
    """Sdist, and the wheel from the sdist."""
    print("Building")
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, ROOT)
    made = sorted(DIST.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *made)
    return made


def try_out(wheel: Path) -> None:
    """Install it where nothing else is, and go from text to a reason."""
    with tempfile.TemporaryDirectory() as place:
        print("Installing into a clean environment")
        home = Path(place) / "venv"
        venv.create(home, with_pip=True)
        run(home / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        print("Running it")
        work = Path(place) / "work"
        shutil.copytree(ROOT / "docs" / "examples", work)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        bagpack = home / "bin" / "bagpack"

        def use(*args: str) -> str:
            return run(bagpack, *args, cwd=work, env=environment)

        version = use("--version").strip()
        use("index", "texts", "--out", "my.bp")
        use("train", "my.bp", "relations.tsv", "--out", "my.model", "--no-scores")
        said = use("explain", "my.model", "leaf", "tree")
        if "leaf – tree: part" not in said:
            sys.exit(f"the installed package does not explain as it should:\n{said}")
        if not (home / "share" / "man" / "man1" / "bagpack.1").exists():
            sys.exit("the man page was not installed")
        run_uninstalled(wheel, Path(place), version)
        print(
            f"{version} is ready: {', '.join(str(path.relative_to(ROOT)) for path in sorted(DIST.iterdir()))}"
        )


def run_uninstalled(wheel: Path, place: Path, version: str) -> None:
    """`pipx run` and `uvx`, each from an environment of its own that is made for one command."""
    print("Running it with pipx and uv, without installing it")
    tools = place / "tools"
    venv.create(tools, with_pip=True)
    run(
        tools / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "pipx",
        "uv",
    )
    homes = {"PIPX_HOME": place / "pipx", "UV_CACHE_DIR": place / "uv", "XDG_CACHE_HOME": place / "cache"}
    environment = {**os.environ, **{name: str(path) for name, path in homes.items()}}
    environment.pop("PYTHONPATH", None)
    for command in (
        ("pipx", "run", "--spec", f"bagpack[serve] @ {wheel.as_uri()}", "bagpack", "--version"),
        (
            "uvx",
            "--python",
            sys.executable,
            "--from",
            f"bagpack[serve] @ {wheel.as_uri()}",
            "bagpack",
            "--version",
        ),
    ):
        printed = run(tools / "bin" / command[0], *command[1:], cwd=place, env=environment).strip()
        if printed != version:
            sys.exit(f"{command[0]} printed {printed!r} instead of {version!r}")


if __name__ == "__main__":
    (found,) = [path for path in build() if path.suffix == ".whl"]
    try_out(found)
