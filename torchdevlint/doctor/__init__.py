"""Why PyTorch sees no GPU on this machine: read from files, the environment and nvidia-smi. torch is neither imported nor needed."""
