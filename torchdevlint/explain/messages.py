"""The device errors of PyTorch 1.8 to 2.13 and their wordings, as a table.

Sources: the strings of the installed libraries (`libtorch_cpu.so`, `libtorch_python.so` of 2.13), torch's Python files (`cuda/__init__.py`,
`mps/__init__.py`, `xpu/__init__.py`, `serialization.py`, `nn/parallel/`), c10/cuda, aten/src/ATen (TensorIterator, TensorUtils, Indexing,
adaption) and, for what older releases said, public issue threads. A row is a cause, or "operands" for errors of which the message names
two devices and the traceback has to tell which side is the wrong one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

DEVICE: Final = r"(?:cuda|cpu|mps|xpu|hpu|xla|npu|mtia|meta|privateuseone|CUDA|CPU|GPU|MPS|XPU)(?::\d+)?"

OPERANDS: Final = "operands"
_CONVOLUTION: Final = "convolution"  # a wording that names types


@dataclass(frozen=True, slots=True)
class Sighting:
    """A recognised message. `cause` is a key of CAUSES, or OPERANDS.

    `device` is where the operand is that the message names, or the second of two devices; `other` where the others are; `argument` and
    `method` are the operator's own names. Empty where the message does not say.
    """

    cause: str
    text: str
    device: str = ""
    other: str = ""
    argument: str = ""
    method: str = ""
    named: str = ""  # a version, a device string or an attribute that the message names


@dataclass(frozen=True, slots=True)
class _Wording:
    cause: str
    pattern: re.Pattern[str]


def _rows(*rows: tuple[str, str]) -> tuple[_Wording, ...]:
    return tuple(_Wording(cause, re.compile(pattern.replace("DEV", DEVICE))) for cause, pattern in rows)


# The first row that matches counts: special wordings stand in front of general ones.
WORDINGS: Final = _rows(
    # ------------------------------------------------------------------ operands on two devices
    # 2.8 and later: c10/core/impl, common_device_check_failure
    (
        OPERANDS,
        r"Expected all tensors to be on the same device, but got (?P<argument>\w+) is on (?P<device>DEV), different from other "
        r"tensors on (?P<other>DEV)(?: \(when checking ar\w+ in method (?P<method>\w+)\))?",
    ),
    # 1.8 to 2.7, and TensorIterator in every version; "arugment" in 1.8 and 1.9
    (
        OPERANDS,
        r"Expected all tensors to be on the same device, but found at least two devices, (?P<other>DEV) and (?P<device>DEV)"
        r"(?:!(?: \(when checking ar\w+ for argument (?P<argument>\w+) in method (?P<method>\w+)\))?)?",
    ),
    # CPU kernels: aten/src/ATen/native/LinearAlgebra.cpp
    (
        OPERANDS,
        r"Expected all tensors to be on the same device. (?P<method>\w+):? expected '(?P<argument>\w+)' to be (?:a )?CPU tensor, but got "
        r"tensor on (?P<device>DEV)",
    ),
    (
        OPERANDS,
        r"Expected all tensors to be on the same device.{0,300}?\(when checking ar\w+ for argument (?P<argument>\w+) in method (?P<method>\w+)\)",
    ),
    (OPERANDS, r"Expected all tensors to be on the same device"),
    # aten/src/ATen/native/Convolution.cpp
    (
        _CONVOLUTION,
        r"Input type \((?P<device>[\w.]+)\) and (?P<argument>weight|bias) type \((?P<other>[\w.]+)\) should be the same",
    ),
    # up to 1.8: aten/src/ATen/TensorUtils.cpp and the legacy dispatcher
    (
        OPERANDS,
        r"Expected object of (?:backend|device type) (?P<other>DEV) but got (?:backend|device type) (?P<device>DEV) for (?:argument #\d+ "
        r"'(?P<argument>\w+)'|sequence element \d+ in sequence argument at position #\d+ '(?P<sequence>\w+)')(?: in call to (?P<method>\w+))?",
    ),
    (
        OPERANDS,
        r"Tensor for argument #\d+ '(?P<argument>\w+)' is on (?P<device>DEV), but expected (?:it|them) to be on (?P<other>DEV)"
        r"(?: \(while checking arguments for (?P<method>\w+)\))?",
    ),
    (
        OPERANDS,
        r"Expected tensor for argument #\d+ '\w+' to have the same device as tensor for argument #\d+ '(?P<argument>\w+)'; but device "
        r"(?P<device_index>\d+) does not equal (?P<other_index>\d+)(?: \(while checking arguments for (?P<method>\w+)\))?",
    ),
    (OPERANDS, r"[Ee]xpected device (?P<other>DEV) but got device (?P<device>DEV)"),
    (
        OPERANDS,
        r"All input tensors must be on the same device. Received (?P<other>DEV) and (?P<device>DEV)(?P<argument>)",
    ),
    (
        OPERANDS,
        r"Expected condition, x and y to be on the same device, but condition is on (?P<condition>DEV) and x and y are on (?P<x>DEV) and "
        r"(?P<y>DEV)",
    ),
    (
        OPERANDS,
        r"Input and (?P<argument>hidden|parameter) tensors are not at the same device, found input tensor at (?P<other>DEV) and \w+ tensor "
        r"at (?P<device>DEV)",
    ),
    (
        OPERANDS,
        r"[Ee]xpected (?:self and mask|mask and self) to be on the same device, but got mask on (?P<device>DEV) and self on (?P<other>DEV)",
    ),
    (
        OPERANDS,
        r"to be on (?:the )?same device, but (?P<argument>\w+) is on (?P<device>DEV) and \w+ is on (?P<other>DEV)",
    ),
    (OPERANDS, r"to be on the same device, but found (?P<argument>\w+) on (?P<device>DEV) and \w+ on (?P<other>DEV)"),
    (
        OPERANDS,
        r"Expected query, key, and value to have the same device type, but got query.device: (?P<other>DEV) key.device: (?P<device>DEV)",
    ),
    (OPERANDS, r"Expected tensors to be on the same device, but found"),
    (OPERANDS, r"Input, output and indices must be on the current device"),
    (OPERANDS, r"arguments are located on different GPUs"),
    # the compiler: torch/_subclasses/fake_tensor.py, torch/_prims_common
    (
        OPERANDS,
        r"Unhandled FakeTensor Device Propagation for (?P<method>[\w.]+), found two different devices (?P<other>DEV),? (?:and )?(?P<device>DEV)",
    ),
    (
        "meta-tensor",
        r"Tensor on device (?P<device>meta) is not on the expected device|is not on the expected device meta",
    ),
    (OPERANDS, r"Tensor on device (?P<device>DEV) is not on the expected device (?P<other>DEV)"),
    (OPERANDS, r"Pointer argument (?:\(at \d+\) )?cannot be accessed from Triton \((?P<device>cpu) tensor\?\)"),
    # MPS: aten/src/ATen/native/mps
    (
        OPERANDS,
        r"slow_conv\w+_mps: input\(device='?(?P<device>DEV)'?\) and (?P<argument>weight|bias)\(device='?(?P<other>DEV)'?\)(?P<convolution>)",
    ),
    (OPERANDS, r"Tensor for argument (?P<argument>\w+) is on (?P<device>DEV) but expected on (?P<other>DEV)"),
    (OPERANDS, r"Placeholder storage has not been allocated on (?P<other>MPS) device"),
    (OPERANDS, r"Passed (?P<device>CPU) tensor to (?P<other>MPS) op"),
    # ------------------------------------------------------------------ an index, NumPy, arguments that must be on the CPU
    (
        "index-device",
        r"indices should be either on (?:cpu|CPU) or on the same device as the indexed tensor(?: \((?P<other>DEV)\))?",
    ),
    ("numpy", r"can't convert (?P<device>DEV) (?:device type )?tensor to numpy"),
    (
        "cpu-argument",
        r"'(?P<argument>lengths|batch_sizes)' argument should be a 1D CPU int64 tensor(?:, but got 1D (?P<device>DEV))?",
    ),
    ("pin-memory", r"cannot pin '(?P<named>[\w.]+)' only (?:dense )?CPU (?:tensors|memory) can be pinned"),
    ("pin-memory-without-gpu", r"Need to provide pin_memory allocator to use pin memory"),
    ("generator-device", r"Expected a '(?P<other>\w+)' device type for generator but found '(?P<device>\w+)'"),
    (
        "rng-state",
        r"RNG state must be a torch.ByteTensor|expected a torch.ByteTensor, but got torch.(?P<device>\w+).ByteTensor",
    ),
    # ------------------------------------------------------------------ loading: torch/serialization.py
    (
        "load-location",
        r"Attempting to deserialize object on (?:a )?(?P<device>CUDA|MPS|XPU|HPU|cuda|mps|xpu|hpu) device(?: (?P<named>\d+) but "
        r"torch.\w+.device_count\(\) is \d+)?",
    ),
    ("load-location", r"don't know how to restore data location of [\w.]+ \(tagged with (?P<named>[\w:]+)\)"),
    # ------------------------------------------------------------------ the build, the driver, the machine
    ("cpu-only-torch", r"Torch not compiled with (?P<named>CUDA|XPU|ROCm) enabled"),
    (
        "cpu-only-torch",
        r"PyTorch (?:was compiled without|is not linked with support for|not linked with support for) (?P<named>\w+)",
    ),
    ("cpu-only-torch", r"Could not run '[\w:.]+' with arguments from the '(?P<named>CUDA|XPU)' backend"),
    ("cpu-only-torch", r"Cannot access accelerator device when none is available"),
    ("mps-not-available", r"MPS is not available|The MPS backend is supported on MacOS 1\d"),
    ("old-driver", r"The NVIDIA driver on your system is too old(?: \(found version (?P<named>\d+)\))?"),
    ("old-driver", r"CUDA driver version is insufficient for CUDA runtime version"),
    ("no-driver", r"Found no NVIDIA driver on your system"),
    ("no-visible-gpu", r"No CUDA GPUs are available|no CUDA-capable device is detected"),
    (
        "driver-state",
        r"CUDA unknown error - this may be due to an incorrectly set up environment|CUDA driver initialization failed",
    ),
    ("architecture", r"no kernel image is available for execution on the device"),
    (
        "architecture",
        r"with CUDA capability (?P<named>sm_\d+\w*) is not compatible with the current PyTorch installation",
    ),
    # ------------------------------------------------------------------ processes and several GPUs
    ("fork-after-cuda", r"Cannot re-initialize (?P<named>CUDA|XPU) in forked subprocess"),
    ("fork-after-cuda", r"(?:CUDA error(?: \(3\))?|cuda runtime error \(3\)) ?: ?initialization error"),
    ("invalid-ordinal", r"invalid device ordinal|Invalid device id|device_?(?:id|index) .{0,40}out of range"),
    (
        "data-parallel",
        r"module must have its parameters and buffers on device (?P<other>DEV) \(device_ids\[0\]\) but found one of them on device: "
        r"(?P<device>DEV)",
    ),
    ("data-parallel", r"[Aa]ll tensors must be on devices\[0\]"),
    ("nccl-cpu-tensor", r"No backend type associated with device type (?P<device>\w+)|Tensors must be CUDA and dense"),
    ("nccl-one-gpu", r"Duplicated? GPU (?:detected|device is not allowed)"),
    # ------------------------------------------------------------------ kernels and memory
    ("index-out-of-range", r"device-side assert triggered"),
    ("out-of-memory", r"(?P<device>CUDA|MPS backend|XPU|HIP) out of memory|CUDA error: out of memory"),
    ("illegal-access", r"an illegal memory access was encountered"),
    # ------------------------------------------------------------------ MPS
    ("mps-float64", r"Cannot convert a MPS Tensor to float64|MPS framework doesn't support float64"),
    (
        "mps-operator",
        r"(?:operator|op) '?(?P<method>[\w:.]+)'? is not (?:currently )?(?:implemented|supported) (?:for|on) the MPS",
    ),
    ("mps-operator", r"Could not run '(?P<method>[\w:.]+)' with arguments from the 'MPS' backend"),
    # ------------------------------------------------------------------ how a device is written
    ("device-string", r"Expected one of .{0,400}device type at start of device string: ?(?P<named>\S+)"),
    ("device-type", r"Expected `?device_type`? of type `?str`?, got"),
    ("device-string", r"Invalid device string: '?(?P<named>[^'\s]+)'?"),
    (
        "legacy-constructor",
        r"legacy constructor expects device type: (?P<other>\w+) but device type: (?P<device>\w+) was passed",
    ),
    ("module-without-device", r"'(?P<named>[A-Z]\w*)' object has no attribute 'device'"),
    (
        "container-without-to",
        r"'(?P<named>list|dict|tuple|BatchEncoding)' object has no attribute '(?P<method>to|cuda|cpu|device)'",
    ),
    ("array-without-device", r"'numpy.ndarray' object has no attribute '(?P<method>cpu|cuda|to|device|detach|numpy)'"),
    ("meta-tensor", r"Cannot copy out of meta tensor"),
    ("dispatched-model", r"[Yy]ou (?:can't|cannot) move a model (?:that has some modules|when it is)"),
    ("quantized-model", r"`\.(?:to|cuda)` is not supported for `?4-bit"),
)


# Messages that speak of devices on certain lines alone: the message, the line, the cause.
_ON_LINES: Final = (
    (
        re.compile(r"^Could not run '[\w:.]+' with arguments from the '(?:CUDA|XPU)' backend"),
        re.compile(r"\btorch\.jit\.load\("),
        "load-location",
    ),
    (re.compile(r"^'\w+' object is not callable"), re.compile(r"\bmap_location="), "device-string"),
    (re.compile(r"'NoneType' object has no attribute '\w+'"), re.compile(r"\bcurrent_accelerator\("), "no-accelerator"),
)


def recognise_on(text: str, line: str) -> Sighting | None:
    """The device error that a message tells of a line of code."""
    for message, code, cause in _ON_LINES:
        found = message.search(text)
        if found is not None and code.search(line):
            return Sighting(cause, found[0])
    return recognise(text)


def recognise(text: str) -> Sighting | None:
    """The device error that a text tells, or None. The first row of the table that occurs counts."""
    for wording in WORDINGS:
        found = wording.pattern.search(text)
        if found is not None:
            return _convolution(found) if wording.cause == _CONVOLUTION else _sighting(wording.cause, found)
    return None


def _sighting(cause: str, found: re.Match[str]) -> Sighting:
    groups = {name: value for name, value in found.groupdict().items() if value is not None}
    device, other = groups.get("device", ""), groups.get("other", "")
    argument, method = groups.get("argument", ""), groups.get("method", "")
    if "sequence" in groups:
        argument = groups["sequence"]
    if "device_index" in groups:
        device, other = f"cuda:{groups['device_index']}", f"cuda:{groups['other_index']}"
    if "convolution" in groups:
        method, argument = "conv", "input"
    if "condition" in groups:
        device, other, argument, method = *_odd_one(groups["condition"], groups["x"], groups["y"]), "where"
    return Sighting(cause, found[0], _spelled(device), _spelled(other), argument, method, groups.get("named", ""))


def _odd_one(condition: str, x: str, y: str) -> tuple[str, str, str]:
    """Which of the three operands of torch.where is elsewhere: its device, that of the others, its name."""
    devices = {"condition": _spelled(condition), "x": _spelled(x), "y": _spelled(y)}
    for name, device in devices.items():
        others = {value for other, value in devices.items() if other != name}
        if len(others) == 1 and device not in others:
            return device, others.pop(), name
    return devices["x"], devices["condition"], "x"


def _convolution(found: re.Match[str]) -> Sighting | None:
    """Types that name two devices; None for one device and two dtypes, which is no matter of devices."""
    device, other = _device_of_type(found["device"]), _device_of_type(found["other"])
    return Sighting(OPERANDS, found[0], device, other, "input", "conv") if device != other else None


def _device_of_type(name: str) -> str:
    for marker, device in (("cuda", "cuda"), ("mps", "mps"), ("xpu", "xpu"), ("hip", "cuda")):
        if marker in name.lower():
            return device
    return "cpu"


def _spelled(device: str) -> str:
    """A device as PyTorch spells it today."""
    return {"gpu": "cuda"}.get(device.lower(), device.lower())
