"""Neural topic model (ProdLDA) with a Laplace approximated Dirichlet prior."""
__version__ = "0.2"
