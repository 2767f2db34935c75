"""What a PyTorch error message says of devices: recognised in a pasted log, traced to a line, answered from the source where it is at hand."""
