"""Rules about what is given to a model."""
