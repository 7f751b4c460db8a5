"""Work in a child process: killed at each of its changes of the disk, or without the rights of root."""

import os
import select
import signal

from bagpack.errors import BagpackError

# Whatever changes the disk passes through one of these: a file is synced when it is written.
STEPS = ("fsync", "replace", "rename", "unlink", "rmdir", "mkdir")


def killed_at(step, work):
    """Run `work` in a child that is killed before its `step`th change of the disk; returns whether it was."""
    return _run_until(step, work)[0]


def moments_of(work, every=61):
    """Steps at which to kill `work`: the first five, the last twelve, and some between, also one after the end.

    Most changes write one of many files; what is new is created at the beginning and gets its name at the end.
    """
    changes = _run_until(0, work)[1]
    return sorted({*range(1, 6), *range(6, changes, every), *range(max(6, changes - 10), changes + 2)})


def _run_until(step, work):
    """Whether a child that runs `work` was killed before its `step`th change, and how many changes it made if not."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        changes = 0

        def counted(call):
            def step_or_die(*arguments, **more):
                nonlocal changes
                changes += 1
                if changes == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*arguments, **more)

            return step_or_die

        for name in STEPS:
            setattr(os, name, counted(getattr(os, name)))
        code = 1
        try:
            work()
            os.write(writing, b"%d" % changes)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    # A fork of a process with threads can hang: then it is killed at another moment.
    poll = select.poll()  # select() refuses descriptors above 1,023, which a long run of tests reaches
    poll.register(reading, select.POLLIN)
    if not poll.poll(60_000):
        os.kill(child, signal.SIGKILL)
    with open(reading, "rb") as pipe:
        changes = int(pipe.read() or 0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status), changes


def as_nobody(work):
    """What an error says of `work` in a child process without the rights of root."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            work()
            said = "no error"
        except BaseException as error:
            said = str(error) if isinstance(error, BagpackError) else repr(error)
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as out:
        said = out.read()
    os.waitpid(child, 0)
    return said
