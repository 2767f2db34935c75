"""Facts of torch about its pickles: storage classes, rebuild functions, and what `weights_only` allows."""

from __future__ import annotations

# torch/storage.py: _dtype_to_storage_type_map. The dtype and the size of an element in bytes.
STORAGES = {
    "DoubleStorage": ("float64", 8),
    "FloatStorage": ("float32", 4),
    "HalfStorage": ("float16", 2),
    "LongStorage": ("int64", 8),
    "IntStorage": ("int32", 4),
    "ShortStorage": ("int16", 2),
    "CharStorage": ("int8", 1),
    "ByteStorage": ("uint8", 1),
    "BoolStorage": ("bool", 1),
    "BFloat16Storage": ("bfloat16", 2),
    "ComplexDoubleStorage": ("complex128", 16),
    "ComplexFloatStorage": ("complex64", 8),
    "QInt8Storage": ("qint8", 1),
    "QInt32Storage": ("qint32", 4),
    "QUInt8Storage": ("quint8", 1),
    "QUInt4x2Storage": ("quint4x2", 1),
    "QUInt2x4Storage": ("quint2x4", 1),
    "UntypedStorage": ("uint8", 1),  # its size is in bytes; the tensor's own dtype follows in _rebuild_tensor_v3
    "_UntypedStorage": ("uint8", 1),  # torch 1.11 and 1.12
}

# torch/_utils.py: functions that make a tensor of a storage. Where the size stands among the arguments, and the dtype (or None).
REBUILT_FROM_STORAGE = {
    "_rebuild_tensor": (2, None),
    "_rebuild_tensor_v2": (2, None),
    "_rebuild_tensor_v3": (2, 6),
    "_rebuild_qtensor": (2, None),
}
# torch/_utils.py: functions that wrap a tensor, their first argument.
REBUILT_FROM_TENSOR = frozenset({"_rebuild_parameter", "_rebuild_parameter_with_state"})
# torch/_utils.py: functions whose third argument is the device as a string.
REBUILT_ON_DEVICE = frozenset(
    {"_rebuild_device_tensor_from_cpu_tensor", "_rebuild_device_tensor_from_numpy", "_rebuild_xla_tensor"}
)

_TYPES = "BFloat16 Bool Byte Char Double Float Half Int Long Short".split()
_SPARSE = "BFloat16 Byte Char Double Float Half Int Long Short".split()
_DTYPES = (
    "bfloat16 bits16 bits1x8 bits2x4 bits4x2 bits8 bool complex128 complex32 complex64 float16 float32 float4_e2m1fn_x2 float64 "
    "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu int1 int16 int2 int3 int32 int4 int5 int6 int64 int7 "
    "int8 qint32 qint8 quint2x4 quint4x2 quint8 uint1 uint16 uint2 uint3 uint32 uint4 uint5 uint6 uint64 uint7 uint8 "
    "per_channel_affine per_channel_affine_float_qparams per_channel_symmetric per_tensor_affine per_tensor_symmetric"
).split()

# torch/_weights_only_unpickler.py (2.13): _get_allowed_globals.
ALLOWED = frozenset(
    {
        "_codecs.encode",
        "builtins.bytearray",
        "builtins.complex",
        "builtins.set",
        "collections.Counter",
        "collections.OrderedDict",
        "torch.Size",
        "torch.Tensor",
        "torch._tensor._rebuild_from_type_v2",
        "torch._utils._rebuild_device_tensor_from_cpu_tensor",
        "torch._utils._rebuild_device_tensor_from_numpy",
        "torch._utils._rebuild_meta_tensor_no_storage",
        "torch._utils._rebuild_nested_tensor",
        "torch._utils._rebuild_parameter",
        "torch._utils._rebuild_parameter_with_state",
        "torch._utils._rebuild_qtensor",
        "torch._utils._rebuild_sparse_tensor",
        "torch._utils._rebuild_tensor",
        "torch._utils._rebuild_tensor_v2",
        "torch._utils._rebuild_tensor_v3",
        "torch._utils._rebuild_wrapper_subclass",
        "torch.device",
        "torch.nn.parameter.Parameter",
        "torch.serialization._get_layout",
        "torch.storage.TypedStorage",
        "torch.storage.UntypedStorage",
        *(f"torch.{name}" for name in _DTYPES),
        *(f"torch.{name}" for name in STORAGES if "Untyped" not in name),
        *(f"torch.cuda.{name}" for name in STORAGES if name[0] not in "QU_"),
        *(f"torch.{module}{name}Tensor" for module in ("", "cuda.") for name in _TYPES),
        *(f"torch.{module}sparse.{name}Tensor" for module in ("", "cuda.") for name in _SPARSE),
    }
)
# torch/_weights_only_unpickler.py: _blocklisted_modules.
BLOCKED_MODULES = frozenset({"sys", "os", "posix", "nt"})

# torch/_weights_only_unpickler.py: Unpickler.load.
UNPICKLED = frozenset(
    "APPEND APPENDS BINFLOAT BINGET BININT BININT1 BININT2 BINPERSID BINPUT BINUNICODE BUILD EMPTY_DICT EMPTY_LIST EMPTY_SET "
    "EMPTY_TUPLE GLOBAL LONG1 LONG_BINGET LONG_BINPUT MARK NEWFALSE NEWOBJ NEWTRUE NONE PROTO REDUCE SETITEM SETITEMS "
    "SHORT_BINSTRING STOP TUPLE TUPLE1 TUPLE2 TUPLE3".split()
)
