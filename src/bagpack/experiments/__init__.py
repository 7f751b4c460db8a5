"""Where corpus, data set and learner meet: evaluate, solve, train, predict, reproduce."""
