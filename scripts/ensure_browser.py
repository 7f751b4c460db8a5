"""See to it that the tests find a Chromium: on PATH, from Debian when we may install, or Playwright's own.

Always exits 0: without a browser the tests that need one are skipped, and say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

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


def main() -> None:
    """Look, then try Debian's package, then Playwright's download."""
    if on_path() or playwrights_own():
        return
    print("No Chromium is installed; the explorer's tests need one. Trying to bring it along:")
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        run("apt-get", "update", "-qq")
        if run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium") and on_path():
            return
    if run(sys.executable, "-m", "playwright", "install", "chromium") and playwrights_own():
        return
    print("No Chromium could be had: tests that need a browser will be skipped. Install one and run again.")


if __name__ == "__main__":
    main()
