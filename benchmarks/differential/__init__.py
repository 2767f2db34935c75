"""Generated programs, judged by the virtual machine: see command.py for the commands."""
