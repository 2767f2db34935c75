from .dataset import RandomMolecules, collate_graphs, fit_atomref

__all__ = ["RandomMolecules", "collate_graphs", "fit_atomref"]
