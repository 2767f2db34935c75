"""Rules about optimizers and the order of moves."""
