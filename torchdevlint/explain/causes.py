"""The causes that an explanation can name: what they mean, what to look for, what repairs them, and the rules that find them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause. `shape` are the options of `torchdevlint verify` under which it shows, "" where no machine of ours can show it."""

    title: str
    why: str
    look_for: tuple[str, ...]
    repair: str
    rules: tuple[str, ...] = ()
    shape: str = "--gpus 1"
    is_setup: bool = False  # a matter of the installation or the machine, which `torchdevlint doctor` looks at


CAUSES: Final[dict[str, Cause]] = {
    "tensor-left-behind": Cause(
        "a tensor was left on another device",
        "An operator takes its tensors from one device (0-dim CPU tensors excepted). One of them was never moved, or was created without "
        "`device=`, which means the CPU.",
        (
            "batches, labels and masks that are used without `.to(device)`, or with its result thrown away",
            "tensors made by torch.zeros, arange, tensor, randn without `device=`",
            "`.cuda()` without a number, which is the current GPU and maybe not the model's",
        ),
        "move it where it enters (`x = x.to(device)`), or create it there (`device=x.device`)",
        ("TDL401", "TDL501", "TDL502", "TDL504", "TDL505", "TDL515", "TDL516", "TDL517", "TDL518", "TDL522"),
    ),
    "module-left-behind": Cause(
        "the module's parameters are on another device than its input",
        "The parameters of this layer were not moved with the rest: the model was not moved, or the layer is not registered in it.",
        (
            "a missing `model.to(device)`, also for a second model (teacher, text encoder, embedding)",
            "layers in a plain list or dict: nn.ModuleList and nn.ModuleDict are moved with the model, lists are not",
            "layers that forward creates anew, which are on the CPU",
            "a model that was moved to the CPU to save or evaluate it, and not back",
        ),
        "`model.to(device)` before the first call; nn.ModuleList for layers in a list",
        ("TDL401", "TDL502", "TDL602", "TDL601", "TDL109"),
    ),
    "attribute-left-behind": Cause(
        "a tensor attribute of a module was left on the CPU",
        "`Module.to()` moves parameters and buffers. A tensor in a plain attribute (`self.mean = torch.zeros(3)`) is neither and stays.",
        (
            "the attribute's assignment in `__init__`",
            "attributes that a method assigns anew with a CPU tensor",
        ),
        '`self.register_buffer("name", tensor, persistent=False)` instead of the assignment',
        ("TDL603", "TDL604", "TDL601"),
    ),
    "loss-weight": Cause(
        "the weights of the loss are on the CPU",
        "The class weights (`weight`, `pos_weight`) are buffers of the loss. They are made on the CPU, and nothing moved the loss.",
        ("where the loss is built: `nn.CrossEntropyLoss(weight=...)`, `nn.BCEWithLogitsLoss(pos_weight=...)`",),
        "`criterion.to(device)`, or build the weights with `device=device`",
        ("TDL301", "TDL302"),
    ),
    "optimizer-state": Cause(
        "the optimizer's state is on another device than the parameters",
        "The optimizer keeps tensors (moments, steps) beside each parameter. They stay where they were made when the parameters move, and a "
        "loaded state may come back elsewhere.",
        (
            "a model that is moved behind the optimizer's construction, or behind `optimizer.load_state_dict`",
            "parameters that were replaced (`model.fc = nn.Linear(...)`) behind the optimizer's construction",
            "an optimizer that keeps state outside of `self.state` or of `load_state_dict`: a newer version may mend it",
        ),
        "move the model first, then build the optimizer, then load its state",
        ("TDL201", "TDL202", "TDL203"),
    ),
    "split-model": Cause(
        "two GPUs meet: parts of the model, or its input, are on different GPUs",
        "A model that is spread over GPUs (`device_map`, several `.to(...)`) hands tensors from one to the next at module borders. An "
        "operation between two of its tensors outside of a module, or an input for the wrong part, mixes GPUs.",
        (
            '`device_map="auto"` or "balanced", and modules that must stay together (`no_split_modules`)',
            "`.cuda()` or `cuda:0` written out where the model is on another GPU",
            "a process that sees all GPUs where it should see one (`CUDA_VISIBLE_DEVICES`, `LOCAL_RANK`)",
        ),
        'give the operation tensors of one device: `b.to(a.device)`; or put the model on one GPU (`device_map={"": 0}`)',
        ("TDL403", "TDL405", "TDL605"),
        "--gpus 2",
    ),
    "replica-device": Cause(
        "a DataParallel replica uses a tensor of another GPU",
        "DataParallel copies parameters and buffers to each GPU. What forward takes from elsewhere (a plain attribute, a global, `cuda:0` "
        "written out) stays on the first one.",
        ("tensor attributes that are no buffers", "devices that are written out in forward"),
        "register the tensor as a buffer, and use the input's device in forward",
        ("TDL603", "TDL605", "TDL606"),
        "--gpus 2",
    ),
    "index-device": Cause(
        "an index on the GPU meets a tensor on the CPU",
        "A tensor may be indexed by tensors of its own device or of the CPU. Here the indexed tensor is on the CPU and the index (or mask) "
        "is not.",
        (
            "the indexed tensor: made without `device=`, or brought back with `.cpu()`",
            "the index: computed from tensors on the GPU",
        ),
        "make the indexed tensor on the index's device, or index with `index.cpu()`",
        ("TDL506",),
    ),
    "numpy": Cause(
        "NumPy cannot read a tensor on a GPU",
        "NumPy reads host memory. `np.array`, `np.asarray`, plotting and `.numpy()` need a CPU tensor; a list of GPU tensors fails alike.",
        (
            "`.numpy()` without `.cpu()`",
            "GPU tensors in lists that NumPy, pandas, scikit-learn or matplotlib are given",
        ),
        "`x.detach().cpu().numpy()`; for one number `x.item()`",
        ("TDL509", "TDL510"),
    ),
    "cpu-argument": Cause(
        "this argument must be on the CPU",
        "`pack_padded_sequence` reads the lengths on the host, since torch 1.7 without copying them itself.",
        ("lengths that were moved with the batch",),
        "`lengths.cpu()` at the call",
        ("TDL514",),
    ),
    "pin-memory": Cause(
        "a GPU tensor cannot be pinned",
        "Pinned memory is host memory. The loader was asked to pin, and the dataset or `collate_fn` gives GPU tensors.",
        ("`.to(device)` or `.cuda()` in the dataset or the collate function",),
        "give CPU tensors and move the batch in the training loop; or `pin_memory=False`",
        ("TDL701", "TDL702"),
    ),
    "pin-memory-without-gpu": Cause(
        "memory cannot be pinned without a GPU build",
        "Pinning is done by the accelerator's runtime. This torch has none, or none is available.",
        ("`pin_memory=True` that does not depend on the machine",),
        "`pin_memory=torch.cuda.is_available()`",
        ("TDL702",),
        "--build cpu",
        is_setup=True,
    ),
    "generator-device": Cause(
        "the random generator is on another device than what it fills",
        "A `torch.Generator` belongs to one device. A random function, a sampler or `random_split` was given one of another device; a default "
        "tensor type or default device of CUDA has the same effect in DataLoader.",
        (
            "`torch.set_default_tensor_type('torch.cuda.FloatTensor')` and `torch.set_default_device('cuda')`",
            "`torch.Generator()` without `device=`",
        ),
        "`torch.Generator(device=device)` for random functions on the GPU; a CPU generator and no CUDA default for DataLoader",
        ("TDL513", "TDL516"),
    ),
    "rng-state": Cause(
        "the state of the CPU's random generator is a GPU tensor",
        "`torch.set_rng_state` takes a ByteTensor on the CPU. `map_location` of a GPU at `torch.load` has moved it with everything else.",
        ("`torch.load(..., map_location=device)` of a checkpoint that holds generator states",),
        '`torch.set_rng_state(state.cpu())`, or load with `map_location="cpu"`',
        ("TDL112",),
    ),
    "load-location": Cause(
        "the checkpoint's tensors belong to a device that this process does not have",
        "Each storage in a file of torch.save carries the device it was saved from, and `torch.load` without `map_location` goes there.",
        (
            "the `torch.load` call: `torchdevlint checkpoint FILE` tells which devices its file needs",
            "whether this process should have a GPU: `torchdevlint doctor` tells why it sees none",
        ),
        '`torch.load(path, map_location="cpu")`, and move the model afterwards',
        ("TDL101", "TDL102", "TDL104", "TDL106", "TDL107"),
        "--build cpu",
    ),
    "cpu-only-torch": Cause(
        "the program asks for a GPU and this torch is built without one",
        "The installed wheel has no CUDA (XPU, MPS) inside. Either it is the wrong wheel, or the program should have asked first.",
        (
            '`cuda` written out: `.cuda()`, `device="cuda"`',
            "another environment's torch: a requirements file, or a package that pulled the CPU wheel",
        ),
        'install a wheel with CUDA (see `torchdevlint doctor`), or choose `"cuda" if torch.cuda.is_available() else "cpu"`',
        ("TDL801", "TDL802", "TDL804", "TDL807", "TDL605", "TDL511"),
        "--build cpu",
        is_setup=True,
    ),
    "mps-not-available": Cause(
        "MPS is not available here",
        "MPS needs Apple silicon (or an AMD GPU), macOS 12.3 or later, and an arm64 build of torch.",
        ("Python under Rosetta (x86_64)", "an old macOS"),
        "see `torchdevlint doctor`; choose the device with `torch.backends.mps.is_available()`",
        ("TDL804",),
        "",
        is_setup=True,
    ),
    "no-accelerator": Cause(
        "this machine has no accelerator that torch can use",
        "`torch.accelerator.current_accelerator()` is None where there is none.",
        ("a device that is taken from it without asking `torch.accelerator.is_available()`",),
        "choose the device by `torch.accelerator.is_available()`, and the CPU otherwise",
        ("TDL804",),
        "--build cpu",
        is_setup=True,
    ),
    "no-driver": Cause(
        "no NVIDIA driver is loaded here",
        "torch has CUDA and finds no driver: a machine without a GPU, a driver that is not installed, or a container without devices.",
        ("`nvidia-smi` here and on the host", "`docker run` without `--gpus all`"),
        "install the driver on the host, or start the container with its GPUs",
        ("TDL801", "TDL802", "TDL804", "TDL807", "TDL605", "TDL511"),
        "--build no-driver",
        is_setup=True,
    ),
    "old-driver": Cause(
        "the NVIDIA driver is older than the CUDA of this torch",
        "A wheel brings its CUDA runtime; the driver must be at least as new. The number in the message is the newest CUDA that the driver knows "
        "(11040 is 11.4).",
        ("`nvidia-smi`: driver and its CUDA", "`python -c 'import torch; print(torch.version.cuda)'`"),
        "update the driver, or install a torch that is built for an older CUDA",
        (),
        "",
        is_setup=True,
    ),
    "no-visible-gpu": Cause(
        "no GPU is visible to this process",
        "The driver is there and shows no GPU: `CUDA_VISIBLE_DEVICES` hides them, or the machine has none.",
        ("`CUDA_VISIBLE_DEVICES` (empty or -1 hides all), also set by the program itself", "`nvidia-smi -L`"),
        "unset `CUDA_VISIBLE_DEVICES`, or name a GPU that exists",
        ("TDL804", "TDL809"),
        "--build hidden",
        is_setup=True,
    ),
    "driver-state": Cause(
        "the driver does not answer",
        "CUDA cannot be initialised: after a suspend or a driver update without a reboot, or `CUDA_VISIBLE_DEVICES` changed behind the start.",
        ("`nvidia-smi` and `dmesg`", "a change of `CUDA_VISIBLE_DEVICES` inside of the program"),
        "reboot, or reload the module nvidia_uvm; set `CUDA_VISIBLE_DEVICES` before the program starts",
        ("TDL809",),
        "",
        is_setup=True,
    ),
    "architecture": Cause(
        "torch, or an extension, has no kernels for this GPU",
        "A build holds machine code for a list of architectures (sm_70, sm_80, ...). This GPU is not among them: it is newer, or too old.",
        (
            "`torch.cuda.get_arch_list()` and `torch.cuda.get_device_capability()`",
            "an extension that was built elsewhere: TORCH_CUDA_ARCH_LIST",
        ),
        "install a torch that is built for the GPU; rebuild the extension with TORCH_CUDA_ARCH_LIST",
        (),
        "",
        is_setup=True,
    ),
    "fork-after-cuda": Cause(
        "CUDA is used in a forked process, behind its start in the parent",
        "A forked child cannot use the parent's CUDA. Loader workers are forked on Linux: a dataset that makes, holds or moves GPU tensors fails "
        "with `num_workers` above 0.",
        (
            "`.to(device)`, `.cuda()` and GPU tensors in the dataset, its transforms and `collate_fn`; `torch.load` without `map_location` there",
            "CUDA calls at the top of a module",
            "a CUDA default tensor type or default device",
        ),
        'keep the dataset on the CPU and move the batch in the loop; else `multiprocessing_context="spawn"`',
        ("TDL701", "TDL705", "TDL516"),
    ),
    "invalid-ordinal": Cause(
        "the GPU number does not exist here",
        "A device index is at or above the number of visible GPUs. `CUDA_VISIBLE_DEVICES` renumbers: with one GPU visible it is `cuda:0`.",
        (
            "`cuda:1`, `device_ids=[0, 1]`, `--gpu 1` written out or as a default",
            "more processes than GPUs: `--nproc_per_node`, world size; the global rank taken for the local one",
        ),
        "use an index below `torch.cuda.device_count()`; `LOCAL_RANK` for processes",
        ("TDL811", "TDL801", "TDL104"),
    ),
    "data-parallel": Cause(
        "the module is not on DataParallel's first device",
        "`nn.DataParallel(module, device_ids)` copies from `device_ids[0]`; all parameters and buffers must be there.",
        (
            "`model.to(device)` with another GPU, or none, before the wrapping",
            "`device_ids` that do not begin with the model's GPU",
        ),
        '`model.to(f"cuda:{device_ids[0]}")` before nn.DataParallel; DistributedDataParallel is what torch recommends',
        ("TDL703",),
        "--gpus 2",
    ),
    "nccl-cpu-tensor": Cause(
        "a collective got a CPU tensor, and the process group has NCCL alone",
        "NCCL moves GPU memory. Broadcasts, reductions and gathers of CPU tensors need gloo beside it.",
        ("small tensors made for a collective: lengths, flags, metrics",),
        '`tensor.to(device)` before the collective; or `init_process_group("cpu:gloo,cuda:nccl")`',
        ("TDL704",),
        "",
    ),
    "nccl-one-gpu": Cause(
        "several ranks use the same GPU",
        "Each rank must have a GPU of its own. Without `set_device`, `cuda` is the first GPU in every process.",
        (
            "`torch.cuda.set_device(local_rank)` missing, or behind the first CUDA call",
            "`cuda:0` or `.cuda()` written out; more ranks than GPUs",
        ),
        '`torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))` first',
        ("TDL104", "TDL801", "TDL605"),
        "",
    ),
    "index-out-of-range": Cause(
        "an index is out of range in a GPU kernel",
        "Nearly always a label at or above the number of classes, a negative label, or a token number at or above the embedding's size. Kernels "
        "run later than Python: the line of the traceback may not be the one.",
        (
            "labels: `labels.min()`, `labels.max()` and the number of classes; labels that begin with 1; 255 as a mask value",
            "token numbers and positions against `num_embeddings`",
        ),
        "run once on the CPU, or with `CUDA_LAUNCH_BLOCKING=1`: the error then names the line and the index",
        (),
        "",
    ),
    "out-of-memory": Cause(
        "the GPU's memory is full",
        "No matter of placement in itself. Placement makes it worse where a checkpoint is loaded onto the GPU, or tensors are kept with their graph.",
        (
            "batch size, image size, sequence length",
            "`total += loss` without `.item()`, evaluation without `torch.no_grad()`",
            "`torch.load` onto the GPU beside the model; other processes on the GPU (`nvidia-smi`)",
        ),
        'a smaller batch; `torch.no_grad()`; `map_location="cpu"` at torch.load',
        ("TDL105", "TDL104"),
        "",
    ),
    "illegal-access": Cause(
        "a kernel read memory that is not its own",
        "A fault of a kernel, often of an extension: a CPU pointer or another GPU's pointer given to it, or an index out of range.",
        ("custom CUDA or Triton code: the devices and the contiguity of its arguments",),
        "run with `CUDA_LAUNCH_BLOCKING=1` to see the call; `torch.cuda.set_device` of the tensors' GPU around custom kernels",
        (),
        "",
    ),
    "mps-float64": Cause(
        "MPS has no float64",
        "NumPy's floats are float64, and so is a tensor made of them; it cannot be moved to MPS.",
        (
            "`torch.from_numpy` and `torch.tensor` of NumPy arrays or of `np.float64` numbers",
            "`dtype=torch.float64`, `.double()`",
        ),
        '`.float()` before `.to("mps")`',
        ("TDL808",),
        "",
    ),
    "mps-operator": Cause(
        "this operator has no MPS kernel",
        "Or, in torch up to 1.13, the operator's arguments are partly on the CPU.",
        ("the list of operators at github.com/pytorch/pytorch/issues/77764",),
        "`PYTORCH_ENABLE_MPS_FALLBACK=1` before torch is imported, or this step on the CPU",
        ("TDL810",),
        "",
    ),
    "device-string": Cause(
        "the device is not written as PyTorch knows it",
        "A device is `cpu`, `cuda`, `cuda:1`, `mps`, `xpu`, ...",
        ("a variable that is no device: a number as a string, a rank, an empty environment variable",),
        '`torch.device("cuda", index)`, or `f"cuda:{index}"`',
        ("TDL512", "TDL103"),
    ),
    "device-type": Cause(
        "autocast takes the type of a device as a string",
        "`torch.autocast` wants `cuda`, not `cuda:0` and not a torch.device.",
        ("the first argument of `torch.autocast` and `torch.amp.GradScaler`",),
        "`torch.autocast(device.type)`",
        ("TDL806",),
    ),
    "legacy-constructor": Cause(
        "an old constructor cannot make a tensor on that device",
        "`torch.FloatTensor(...)` and `Tensor.new(...)` belong to the CPU, `torch.cuda.FloatTensor` to CUDA.",
        ("`torch.FloatTensor(..., device=...)`, `x.new(...)`",),
        "`torch.tensor(..., device=...)`, `x.new_zeros(...)`",
        ("TDL511",),
    ),
    "module-without-device": Cause(
        "a module has no attribute `device`",
        "`nn.Module` has none: its parameters may be on several. (Models of transformers and Lightning have one.)",
        ("`model.device` of a plain nn.Module, or of one that is wrapped in DataParallel",),
        "`next(model.parameters()).device`",
        ("TDL607",),
    ),
    "container-without-to": Cause(
        "lists, tuples and dicts have no `.to()`",
        "A batch is a container of tensors here.",
        ('what the loader or tokenizer gives: `return_tensors="pt"` is missing, or a custom collate function',),
        "`[x.to(device) for x in batch]`, `{k: v.to(device) for k, v in batch.items()}`",
        ("TDL402",),
    ),
    "array-without-device": Cause(
        "a NumPy array has no device",
        "What is an array already is no tensor any more: `.cpu()`, `.to()` and `.detach()` belong in front of `.numpy()`.",
        ("`.numpy().cpu()`", "a dataset or a function that gives arrays where tensors are expected"),
        "`x.detach().cpu().numpy()`; `torch.from_numpy(array).to(device)` for the way back",
        ("TDL510", "TDL509"),
    ),
    "meta-tensor": Cause(
        "parameters are still on the meta device",
        'They have shapes and no data: the model was made empty (`device="meta"`, `init_empty_weights`, `low_cpu_mem_usage`), and not all were loaded.',
        (
            "missing keys when the checkpoint was loaded",
            "`.to(device)` of a model that `device_map` has already placed or offloaded",
        ),
        "load all parameters first (`assign=True`), or `to_empty(device=...)` and initialise them",
        ("TDL403",),
        "",
    ),
    "dispatched-model": Cause(
        "a model that accelerate has placed cannot be moved",
        "`device_map` has put its parts on devices, with hooks, or offloaded them.",
        ("`.to(device)` or `.cuda()` behind `from_pretrained(..., device_map=...)`",),
        "leave out the move, or leave out `device_map`",
        ("TDL403",),
        "",
    ),
    "quantized-model": Cause(
        "a quantized model cannot be moved",
        "A 4-bit or 8-bit model of bitsandbytes is where it was loaded.",
        ("`.to(device)` or `.cuda()` behind `from_pretrained(..., quantization_config=...)`",),
        'leave out the move; `device_map={"": index}` chooses the GPU',
        ("TDL404",),
        "",
    ),
}

CAUSE_OF_RULE: Final[dict[str, str]] = {
    "TDL101": "load-location",
    "TDL102": "load-location",
    "TDL103": "device-string",
    "TDL104": "load-location",
    "TDL106": "load-location",
    "TDL107": "load-location",
    "TDL109": "module-left-behind",
    "TDL112": "rng-state",
    "TDL201": "optimizer-state",
    "TDL202": "optimizer-state",
    "TDL203": "optimizer-state",
    "TDL301": "loss-weight",
    "TDL302": "loss-weight",
    "TDL401": "tensor-left-behind",
    "TDL402": "container-without-to",
    "TDL403": "dispatched-model",
    "TDL404": "quantized-model",
    "TDL405": "split-model",
    "TDL501": "tensor-left-behind",
    "TDL504": "tensor-left-behind",
    "TDL505": "tensor-left-behind",
    "TDL506": "index-device",
    "TDL509": "numpy",
    "TDL510": "array-without-device",
    "TDL511": "legacy-constructor",
    "TDL512": "device-string",
    "TDL513": "generator-device",
    "TDL514": "cpu-argument",
    "TDL515": "tensor-left-behind",
    "TDL516": "generator-device",
    "TDL517": "tensor-left-behind",
    "TDL518": "tensor-left-behind",
    "TDL522": "tensor-left-behind",
    "TDL601": "module-left-behind",
    "TDL602": "module-left-behind",
    "TDL603": "attribute-left-behind",
    "TDL604": "attribute-left-behind",
    "TDL607": "module-without-device",
    "TDL701": "pin-memory",
    "TDL702": "pin-memory",
    "TDL703": "data-parallel",
    "TDL704": "nccl-cpu-tensor",
    "TDL705": "fork-after-cuda",
    "TDL806": "device-type",
    "TDL802": "cpu-only-torch",
    "TDL808": "mps-float64",
    "TDL811": "invalid-ordinal",
}
"""Which cause a finding on the failing line shows."""

OPERAND_CAUSES: Final = frozenset(
    (
        "tensor-left-behind",
        "module-left-behind",
        "attribute-left-behind",
        "loss-weight",
        "optimizer-state",
        "split-model",
        "replica-device",
    )
)
"""The causes of an error between operands on two devices."""
