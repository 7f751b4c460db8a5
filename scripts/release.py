"""Build sdist and wheel into dist/, check them, install the wheel into a clean environment, and use it. `make release`.

Nothing is uploaded. Installing needs the package index, for the dependencies.
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
        print(
            f"{version} is ready: {', '.join(str(path.relative_to(ROOT)) for path in sorted(DIST.iterdir()))}"
        )


if __name__ == "__main__":
    (found,) = [path for path in build() if path.suffix == ".whl"]
    try_out(found)
