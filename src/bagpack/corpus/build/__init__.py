"""Building a store: plan, workers, shards, working directory."""
