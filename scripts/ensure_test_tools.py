"""See to it that the tests find what no Python package brings: a Chromium, and Lucene with a Java to run it.

Always exits 0: tests that need what could not be had are skipped, and say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

LOCK_SECONDS = 300  # a fresh machine may still be installing updates; apt gives up at once by default
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def on_path() -> str | None:
    """A browser that is installed already."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def playwrights_own() -> str | None:
    """The browser that `playwright install` brought, if it did."""
    try:
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            path = playwright.chromium.executable_path
    except Exception:  # no playwright, or one that cannot start: then there is no browser of its own either
        return None
    return path if os.path.exists(path) else None


def run(*command: str) -> bool:
    """Whether a command worked, within ten minutes."""
    print("  " + " ".join(command), flush=True)
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, timeout=600, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def install(*packages: str) -> bool:
    """Install Debian packages where we may; wait for another package manager to finish."""
    if not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return False
    apt = ("apt-get", "-o", f"DPkg::Lock::Timeout={LOCK_SECONDS}")
    run(*apt, "update", "-qq")
    return run(*apt, "install", "-y", "-qq", "--no-install-recommends", *packages)


def ensure_browser() -> None:
    """Look, then try Debian's package, then Playwright's download."""
    if on_path() or playwrights_own():
        return
    print("No Chromium is installed; the explorer's tests need one. Trying to bring it along:")
    if install("chromium") and on_path():
        return
    if run(sys.executable, "-m", "playwright", "install", "chromium") and playwrights_own():
        return
    print("No Chromium could be had: tests that need a browser will be skipped. Install one and run again.")


def ensure_lucene() -> None:
    """Lucene's jars from Debian: the contract tests of OpenSearch run its interval queries."""
    if os.environ.get("BAGPACK_LUCENE") or list(Path("/usr/share/java").glob("lucene-queries-*.jar")):
        return
    print("Lucene is not installed; OpenSearch's contract tests use it. Trying to bring it along:")
    java = () if shutil.which("java") else ("default-jre-headless",)
    if not install("liblucene8-java", *java):
        print("Lucene could not be had: its tests will be skipped.")


if __name__ == "__main__":
    ensure_browser()
    ensure_lucene()
