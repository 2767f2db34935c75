"""Device inference: what every value is and where it is, and the claims that must hold for a program to run.

Every callable has a summary, a residual program of ordered claims and open calls, effects and a result. A call runs the summary again with
what its caller gives. A claim that is open travels on to the next caller, until values or facts decide it, or nobody is left who could.
"""
