"""Complete runs over a corpus and a data set: evaluate, solve, train, predict, reproduce."""
