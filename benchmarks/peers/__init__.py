"""What users would pick instead: one file per job, each peer in a process of its own; run by `make bench-peers`."""
