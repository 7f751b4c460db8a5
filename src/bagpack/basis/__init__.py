"""The basis: the terms that span the vectors of words and pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.basis.choose import choose_basis as choose_basis
    from bagpack.basis.terms import Basis as Basis
    from bagpack.basis.terms import BasisChoice as BasisChoice
    from bagpack.basis.terms import BasisSize as BasisSize

_NAMES = {
    "bagpack.basis.choose": ("choose_basis",),
    "bagpack.basis.terms": ("Basis", "BasisChoice", "BasisSize"),
}
__getattr__, __all__ = lazy_names(__name__, _NAMES)
