"""The on-disk store and how it is opened."""
