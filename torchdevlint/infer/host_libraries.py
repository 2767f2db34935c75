"""Libraries that read host memory: which of their arguments they make arrays of, as NumPy does through `__array__`."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.infer.values import NONE, Args, Const, Ext, Keywords, Value

ROOTS = frozenset(("numpy", "pandas", "matplotlib", "sklearn", "scipy", "cv2", "seaborn", "PIL", "faiss", "skimage"))
# They read a shape or a type only, or call `.numpy(force=True)` themselves.
_HARMLESS = frozenset(
    "numpy." + name
    for name in "shape ndim size prod isscalar random.seed random.shuffle squeeze nonzero fromiter array_equal array_equiv bmat real".split()
) | frozenset(("scipy.sparse.coo_matrix",))
# Positional arguments that are read with `__index__`, `len` or `iter`, which a tensor on an accelerator answers, and never made an array of
# (each tried with NumPy 2.4 and a tensor whose `__array__` raises; numpy/lib/_shape_base_impl.py, `array_split`, iterates over the indices).
_READ_AS_INDEX = {
    **dict.fromkeys(("split", "array_split", "hsplit", "vsplit", "dsplit"), (0, 1)),
    **dict.fromkeys(("zeros", "ones", "empty", "full", "identity"), (0,)),
    **dict.fromkeys(("eye", "tri"), (0, 1, 2)),
    **dict.fromkeys(
        ("reshape", "broadcast_to", "resize", "expand_dims", "concatenate", "stack", "diag", "tril", "triu"), (1,)
    ),
    **dict.fromkeys(("swapaxes", "moveaxis"), (1, 2)),
    **dict.fromkeys(("linspace", "logspace", "random.uniform", "random.normal"), (2,)),
    **dict.fromkeys(("random.rand", "random.randn", "random.random", "random.random_sample"), (0, 1, 2)),
    **dict.fromkeys(("float64", "double", "iterable"), (0,)),
}
# What of the objects of these libraries is an array with a dimension: columns and tables of pandas, what an estimator of scikit-learn has learned, and gives.
ATTRIBUTES = frozenset(
    "values mean_ scale_ var_ center_ data_min_ data_max_ coef_ cluster_centers_ components_ classes_ feature_importances_ labels_ means_ "
    "explained_variance_ data target".split()
)
METHODS = frozenset(
    "to_numpy toarray todense fit_transform transform inverse_transform predict predict_proba fit_predict decision_function".split()
)
_NUMBERS = frozenset({"builtins.int", "builtins.float", "builtins.bool", "builtins.complex"})
_INDEX_KEYWORDS = frozenset("axis shape newshape indices_or_sections num k N M size minlength".split())
_MOST_ARGUMENTS = 3  # the others are settings


def is_of_numbers(name: str, args: Args, keywords: Keywords) -> bool:
    """False for an array of objects, which keeps tensors as a list does, and where the type of its items is not known."""
    at = 2 if name == "full" else 1
    kind = args[at] if len(args) > at else keywords.get("dtype")
    if kind is None:
        return not (name == "full" and len(args) > 1 and args[1] == NONE)
    if isinstance(kind, Const):
        return isinstance(kind.value, str) and kind.value not in ("O", "object")
    if not isinstance(kind, Ext):
        return False
    return kind.name in _NUMBERS or (kind.name.startswith("numpy.") and kind.name != "numpy.object_")


def may_be_of_records(args: Args, keywords: Keywords) -> bool:
    """True where the type of the items is written as a list of fields, or not known (tried with NumPy 2.4, as above)."""
    kind = args[1] if len(args) > 1 else keywords.get("dtype", NONE)
    return not isinstance(kind, (Const, Ext))


def made_arrays(name: str, args: Args, keywords: Keywords) -> Iterator[Value]:
    """The arguments that a function of these libraries, by its dotted name, makes arrays of."""
    if name in _HARMLESS:
        return
    indices = _READ_AS_INDEX.get(name.removeprefix("numpy."), ())
    yield from (given for at, given in enumerate(args[:_MOST_ARGUMENTS]) if at not in indices)
    yield from (given for keyword, given in keywords.items() if keyword not in _INDEX_KEYWORDS)
