"""Rules about checkpoints and saving."""
