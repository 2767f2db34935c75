"""Running programs in child processes, on a virtual or a real machine, and judging what they showed."""
