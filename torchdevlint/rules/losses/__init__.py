"""Rules about loss functions and metrics."""
