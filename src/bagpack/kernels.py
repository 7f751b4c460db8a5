"""How numba is used: kernels are compiled, and numba is imported, when one of them is called for the first time.

Importing numba takes longer than most commands need for their work, so a module with kernels must not import it. The
compiled code is cached next to the source or in the user's cache directory; where neither can be written, every process
compiles again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bagpack.arrays import Values

_making = threading.RLock()  # two threads that need a kernel at the same time share it


class Lazy:
    """A kernel that is made when it is first used; then it replaces its placeholder in the modules that use it."""

    def __init__(self, function: Callable[..., Any], **options: bool) -> None:
        update_wrapper(self, function, updated=())
        self.function = function
        self.options = options
        self.made: Any = None

    def get(self) -> Any:
        """The kernel itself. Numba looks up the kernels that a kernel calls in the globals of its module."""
        with _making:
            if self.made is None:
                self.made = _compile(self.function, **self.options)
                names = self.function.__globals__
                for name, value in list(names.items()):
                    if isinstance(value, Lazy):
                        names[name] = value.get()
        return self.made

    def __call__(self, *arguments: Any) -> Any:
        """Make it, and call it."""
        return self.get()(*arguments)


# A function over arrays that makes none, so that none are counted by reference: interning would take ten times as long.
kernel = partial(Lazy, _nrt=False)
# A kernel that makes arrays itself.
allocating_kernel = Lazy
# A kernel that is copied into those that call it: a call for every token would take half of the time.
inlined = partial(Lazy, _nrt=False, forceinline=True)
# A `numba.extending.intrinsic`.
intrinsic = partial(Lazy, intrinsic=True)


def _compile(function: Callable[..., Any], intrinsic: bool = False, **options: Any) -> Any:
    import numba

    if intrinsic:
        return numba.extending.intrinsic(function)
    try:
        return numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # no directory that a cache could be written to
        return numba.njit(nogil=True, **options)(function)


def read_only(array: Values) -> Values:
    """A view that cannot be written: one compiled kernel serves memory maps, bytes and arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


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
