"""Input formats: one module each, with a `READER`.

Another package adds a reader through an entry point in the group `bagpack.readers`; `base.Reader` is its interface.
"""
