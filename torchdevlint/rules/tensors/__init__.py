"""Rules about tensors and operations on them."""
