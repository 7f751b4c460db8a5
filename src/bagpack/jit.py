"""Numba kernels that are compiled, and numba that is imported, when one of them is called for the first time.

Importing numba takes longer than most commands need for their work, so a module with kernels must not import it.
`kernel` is `numba.njit(cache=True, nogil=True)`. The compiled code is cached next to the source or in the user's cache
directory; where neither can be written, it is compiled again by every process. What a function does not need is not
compiled: a `kernel` allocates nothing (`allocating_kernel` does), and a `subroutine` is called by kernels only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

    from numpy.typing import NDArray

_making = threading.RLock()  # two threads that need a kernel at the same time share it

COMPILING = "compiling the kernels for the first run here; this takes some seconds ..."


class Lazy:
    """Something made when it is first used; then it replaces its placeholder in the modules that use it."""

    def __init__(
        self, function: Callable[..., Any], make: Callable[[Callable[..., Any]], Any], arguments: str = ""
    ) -> None:
        self.function = function
        self.make = make
        self.arguments = arguments  # the types of a typed kernel's
        self.made: Any = None
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__

    def get(self) -> Any:
        """The thing itself. Numba looks up the kernels that a kernel calls in the globals of its module."""
        with _making:
            if self.made is None:
                if self.arguments and elsewhere:
                    elsewhere[0].wait()
                self.made = self.make(self.function)
                names = self.function.__globals__
                for name, value in list(names.items()):
                    if isinstance(value, Lazy):
                        names[name] = value.get()
        return self.made

    def __call__(self, *arguments: Any) -> Any:
        """Make it, and call it."""
        return self.get()(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.get(), name)


def kernel(function: Callable[..., Any]) -> Any:
    """A function over arrays that numba compiles when it is first called. It makes no arrays."""
    return Lazy(function, partial(_compile, _nrt=False))


def typed_kernel(arguments: str) -> Callable[[Callable[..., Any]], Any]:
    """A kernel that can be compiled before it is called, for arguments of these types (see `bagpack.compiling`).

    `i8` is an integer, `i8:` and `i8::` are arrays of one and two dimensions, `=i8:` is one that is `read_only`.
    """

    def declare(function: Callable[..., Any]) -> Any:
        made = Lazy(function, partial(_compile, _nrt=False), arguments)
        typed.append(made)
        return made

    return declare


def allocating_kernel(function: Callable[..., Any]) -> Any:
    """A kernel that makes arrays itself, which takes longer to compile."""
    return Lazy(function, _compile)


def subroutine(function: Callable[..., Any]) -> Any:
    """A part of kernels, which Python does not call; it makes no arrays."""
    return Lazy(function, partial(_compile, _nrt=False, no_cpython_wrapper=True))


def inlined(function: Callable[..., Any]) -> Any:
    """A subroutine that is copied into the kernels that call it: a call for every token would take half of the time."""
    return Lazy(function, partial(_compile, _nrt=False, no_cpython_wrapper=True, forceinline=True))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written: one compiled kernel serves memory maps, bytes and arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


def intrinsic(function: Callable[..., Any]) -> Any:
    """A `numba.extending.intrinsic`, made when a kernel that uses it is first called."""
    return Lazy(function, _make_intrinsic)


_notices: list[Callable[[], None]] = []


def on_compile(notice: Callable[[], None]) -> None:
    """Call `notice` once, when this process compiles a kernel because the cache does not have it."""
    _notices[:] = [notice]


typed: list[Lazy] = []
elsewhere: list[subprocess.Popen[bytes]] = []  # the process that compiles the typed kernels now
uncached: list[bool] = []

_without_blas: list[bool] = []


def skip_blas() -> None:
    """Let numba not look for a BLAS, as the `bagpack` command does: it is found by importing scipy.linalg (0.2 s).

    No kernel of ours uses one. In Python nothing of the kind is done, since numba belongs to the user's kernels too.
    """
    _without_blas[:] = [True]


@lru_cache(maxsize=1)
def _import_without_blas() -> None:
    from numba.np import linalg

    def no_blas() -> None:
        raise ImportError("bagpack has no use for a BLAS")

    found = getattr(linalg, "ensure_blas", None)
    if found is None:  # another numba, which may look for it elsewhere: then it is only slower
        return
    linalg.ensure_blas = no_blas
    try:
        import numba.np.arraymath  # looks for it once  # noqa: F401
    finally:
        linalg.ensure_blas = found


def _compile(function: Callable[..., Any], **more: bool) -> Any:
    import numba

    if _without_blas:
        _import_without_blas()
    if _notices:
        _listen()
    options: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, **more}  # C does not call them
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no directory that a cache could be written to
        uncached[:] = [True]
        return numba.njit(**options)(function)


@lru_cache(maxsize=1)
def _listen() -> None:
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            if _notices:
                _notices.pop()()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]


def _make_intrinsic(function: Callable[..., Any]) -> Any:
    from numba.extending import intrinsic as make

    return make(function)


@subroutine
def lower_bound(numbers, low, high, wanted):  # type: ignore[no-untyped-def]
    """The first of low..high-1 whose number, in ascending order, is at least `wanted`; high if there is none."""
    while low < high:  # np.searchsorted takes longer to compile than all of this
        middle = (low + high) // 2
        if numbers[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low
