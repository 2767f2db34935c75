from . import lines
