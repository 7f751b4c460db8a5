"""Compiling kernels in two processes when numba's cache is empty; in one, threads would wait for numba's lock."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

from bagpack import jit
from bagpack.parallel import core_count
from bagpack.signals import end_with


def compile_elsewhere() -> None:
    """Let another process compile the typed kernels of the modules that are imported, and the first user wait for it.

    The process ends with this one.
    """
    modules = dict.fromkeys(kernel.__module__ for kernel in jit.typed if kernel.made is None)
    if modules and not jit.uncached and core_count() > 1:
        code = "from bagpack.compiling import fill_cache; fill_cache()"
        command = [sys.executable, "-P", "-c", code, *modules]
        none = subprocess.DEVNULL
        with suppress(OSError):  # no process, memory or file descriptor left: then this one compiles all
            jit.elsewhere[:] = [subprocess.Popen(command, stdin=none, stdout=none, stderr=none)]


def fill_cache() -> None:
    """In the other process: compile the typed kernels of the modules that the command line names."""
    end_with(os.getppid())
    jit.skip_blas()
    for name in sys.argv[1:]:
        import_module(name)
    for kernel in jit.typed:
        kernel.get().compile(tuple(map(_numba_type, kernel.arguments.split())))


def _numba_type(name: str) -> Any:
    from numba import types

    element = getattr(types, name.strip("=:"))
    dimensions = name.count(":")
    return types.Array(element, dimensions, "C", readonly=name[0] == "=") if dimensions else element
