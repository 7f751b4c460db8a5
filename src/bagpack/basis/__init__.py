"""The basis: the terms that span the vectors of words and pairs."""

from bagpack.basis.choose import choose_basis as choose_basis
from bagpack.basis.terms import Basis as Basis
from bagpack.basis.terms import BasisChoice as BasisChoice
from bagpack.basis.terms import BasisSize as BasisSize
