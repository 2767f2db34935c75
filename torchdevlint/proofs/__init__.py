"""A program for each rule: its fault and its repair, and the machine shapes on which the fault shows.

A proof `proofs/<rule_name>.py` holds `CODE`, `SHAPES` ("cpu", "no-driver", "hidden": machines without GPU; "1", "2": with that many),
`EXPECT` (a pattern that the fault's evidence shows and the repair's does not), `fault()` and `repair()`. What a function gives back is
what it saw. `LEDGER = True` counts copies as evidence, `RACE = True` marks a fault that a real GPU need not show every time.
"""
