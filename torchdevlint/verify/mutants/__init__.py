"""Device mutants: a CPU-only test suite run as if its author had put every value on a GPU.

`pytest --virtual-gpus 1 --device-mutants` rewrites the calls of test code in memory: what a call makes there lives on `cuda:0`. The
frames of the library stay as they are, so a device fault that is met in them is one that the library's users meet.

    settings     what a run is told, carried into every process by an environment variable
    testcode     which files are test code
    rewrite      the calls of a syntax tree
    importing    the import hook, its cache, and repaired texts in the place of files
    values       the tensors of a value: found, moved, brought back
    runtime      what a rewritten call does
    record       faults, returned CPU tensors and lines that ran with a GPU operand
    session      the pytest plugin inside the machine
    orchestrate  the runs and their report
    places       findings of the linter and its repairs at the places of faults
"""
