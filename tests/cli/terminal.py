"""A command with both of its outputs on a terminal."""

import os
import pty
import re
import subprocess

from tests.conftest import bagpack_command


def on_terminal(*args, columns=150, term="xterm"):
    """Exit code of `bagpack ARGS`, what it writes to a terminal, and the same without colours and cursor movements."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "TERM": term}
    run = subprocess.Popen(bagpack_command(*args), stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    text = seen.decode().replace("\r\n", "\n")
    return run.wait(), text, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
