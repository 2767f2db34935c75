"""Rules about asynchronous copies, waiting and needless work."""
