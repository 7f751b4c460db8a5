"""How numba is used: kernels are compiled, and numba is imported, when one of them is called for the first time.

Importing numba takes longer than most commands need for their work, so a module with kernels must not import it. The
compiled code is cached next to the source or in the user's cache directory; where neither can be written, every process
compiles again.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from bagpack.errors import BagpackError

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMPILING = "compiling the kernels for the first run here; this takes some seconds ..."

_making = threading.RLock()  # two threads that need a kernel at the same time share it
_notices: list[Callable[[], None]] = []
_listening: list[Any] = []
_without: list[str] = []
BLAS = "scipy.linalg.cython_blas"


class Lazy:
    """Something made when it is first used; then it replaces its placeholder in the modules that use it."""

    def __init__(self, function: Callable[..., Any], make: Callable[[Callable[..., Any]], Any]) -> None:
        self.function = function
        self.make = make
        self.made: Any = None
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__

    def get(self) -> Any:
        """The thing itself. Numba looks up the kernels that a kernel calls in the globals of its module."""
        with _making:
            if self.made is None:
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
    """A function over arrays: `numba.njit(cache=True, nogil=True)`, made when it is first called.

    It makes no arrays, so that none are counted by reference: interning would take ten times as long.
    """
    return Lazy(function, partial(_compile, _nrt=False))


def allocating_kernel(function: Callable[..., Any]) -> Any:
    """A kernel that makes arrays itself."""
    return Lazy(function, _compile)


def inlined(function: Callable[..., Any]) -> Any:
    """A kernel that is copied into those that call it: a call for every token would take half of the time."""
    return Lazy(function, partial(_compile, _nrt=False, forceinline=True))


def intrinsic(function: Callable[..., Any]) -> Any:
    """A `numba.extending.intrinsic`, made when a kernel that uses it is first called."""

    def make(function: Callable[..., Any]) -> Any:
        from numba.extending import intrinsic as make_intrinsic

        return make_intrinsic(function)

    return Lazy(function, make)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written: one compiled kernel serves memory maps, bytes and arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


def on_compile(notice: Callable[[], None]) -> None:
    """Call `notice` once, when this process compiles a kernel because the cache does not have it."""
    _notices[:] = [notice]


def skip_blas() -> None:
    """Let numba not look for a BLAS, as the `bagpack` command does: it is found by importing scipy.linalg (0.2 s).

    No kernel of ours uses one. In Python nothing of the kind is done, since numba belongs to the user's kernels too.
    """
    _without.append(BLAS)


def _compile(function: Callable[..., Any], **more: bool) -> Any:
    try:
        import numba
        from numba.core import event
    except OSError as error:  # the library of LLVM takes 200 MB of address space
        raise BagpackError(
            f"numba, which compiles the kernels, cannot be loaded ({error}); if memory is limited (ulimit -v), allow "
            f"1 GB or more"
        ) from error

    if _without and BLAS not in sys.modules:
        sys.modules[_without.pop()] = None  # type: ignore[assignment]
        try:
            import numba.np.arraymath  # looks for it once
        finally:
            del sys.modules[BLAS]

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            if _notices:
                _notices.pop()()

        def on_end(self, event: Any) -> None:
            pass

    if _notices and not _listening:
        _listening.append(Listener())
        event.register("numba:compile", _listening[0])  # type: ignore[no-untyped-call]
    options: Any = {"nogil": True, **more}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no directory that a cache could be written to
        return numba.njit(**options)(function)


@kernel
def lower_bound(numbers, low, high, wanted):  # type: ignore[no-untyped-def]
    """The first of low..high-1 whose number, in ascending order, is at least `wanted`; high if there is none."""
    while low < high:  # np.searchsorted takes longer to compile than all of this
        middle = (low + high) // 2
        if numbers[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low
