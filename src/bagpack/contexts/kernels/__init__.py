"""Kernels: free functions over the arrays of one segment, compiled by numba when they are first called.

A target's occurrences are an ascending array of positions and a length in tokens. The sentence flag of a token bounds
every window. Nothing here checks an index: see `corpus.format` for the arrays of a store and
`count.basis_tables` for those of a basis.
"""

# Order of a co-occurrence: the first word comes first, the second does, they are equal.
PLUS, MINUS, BOTH = range(3)
