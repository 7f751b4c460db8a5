"""Killing a process at each of its changes of the disk."""

import os
import signal

from bagpack import artefacts

# Whatever changes the disk passes through one of these: a file is synced when it is written.
STEPS = ("fsync", "replace", "unlink", "rmdir", "mkdir")


def killed_at(step, work):
    """Run `work` in a child that is killed before its `step`th change of the disk; returns whether it was."""
    child = os.fork()
    if child == 0:
        left = step

        def counted(call):
            def step_or_die(*arguments, **more):
                nonlocal left
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*arguments, **more)

            return step_or_die

        for name in STEPS:
            setattr(os, name, counted(getattr(os, name)))
        artefacts.exchange = counted(artefacts.exchange)
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)
