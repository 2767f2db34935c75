"""Rules about data loading, worker processes and process groups."""
