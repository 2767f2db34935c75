"""Tensor methods, factories, contexts, types, torch.cuda: every surface that the machine patches."""

import copy
import io
import pickle
import warnings

import torch
import torch.nn as nn
from _support import ACCELERATOR_ERROR, raises

SHAPE = {"gpus": 2}
CUDA0, CUDA1 = torch.device("cuda:0"), torch.device("cuda:1")
x = torch.arange(6.0).reshape(2, 3)
g = x.cuda()


def case_to_in_all_spellings() -> None:
    for moved in (
        x.to("cuda"),
        x.to(0),
        x.to(device="cuda"),
        x.to(torch.device("cuda", 0)),
        x.to(g),
        x.to(other=g),
        x.to("cuda", torch.float64),
        x.to("cuda", torch.float64, True),
        x.to("cuda", torch.float64, False, True),
        x.to("cuda", non_blocking=True, copy=True),
        x.cuda(),
        x.cuda(0),
        x.cuda("cuda:0"),
        x.type("torch.cuda.FloatTensor"),
        x.type(torch.cuda.DoubleTensor),
        x.type_as(g),
    ):
        assert moved.device == CUDA0, moved
    assert x.to(1).device == x.to("cuda:1").device == x.cuda(1).device == CUDA1
    assert g.to("cuda") is g and x.to("cpu") is x and g.cuda() is g
    assert g.to("cuda", copy=True) is not g
    assert g.to(torch.float64).is_cuda and g.double().is_cuda
    assert g.to(None) is g
    assert x.to("cuda", torch.float64).dtype == torch.float64
    assert g.to(x).device.type == g.cpu().device.type == "cpu"


def case_to_with_a_bool() -> None:
    casted = g.to(True)  # a bool is a tensor to the parser: `.to(other)` with a CPU bool tensor
    assert casted.dtype == torch.bool and casted.device.type == "cpu"
    with raises(TypeError, "cuda(): argument 'device' (position 1) must be torch.device, not bool"):
        x.cuda(True)
    with raises(TypeError, "to() received an invalid combination of arguments - got (str, bool)"):
        x.to("cuda", True)


def case_type_as_follows_its_argument() -> None:
    other = torch.zeros(1, dtype=torch.float64, device="cuda:1")
    assert x.type_as(other).device == CUDA1 and x.type_as(other).dtype == torch.float64
    assert g.type_as(x).device.type == "cpu"
    assert x.type(g.type()).device == CUDA0


def case_reports() -> None:
    assert g.is_cuda and not g.is_cpu and g.get_device() == 0 and x.get_device() == -1
    assert g.type() == "torch.cuda.FloatTensor" and x.type() == "torch.FloatTensor"
    assert "device='cuda:0'" in repr(g) and "device" not in repr(x)
    assert str(g.device) == "cuda:0" and g.device == torch.device("cuda", 0) != torch.device("cuda")
    assert g.__dlpack_device__() == (2, 0)
    assert g.untyped_storage().device == CUDA0 and g.storage().device == CUDA0


def case_views_follow() -> None:
    for view in (g[0], g.T, g.view(-1), g.detach(), g.data, g.reshape(3, 2), g.expand(2, 2, 3), *g.unbind(), g.real):
        assert view.device == CUDA0
    y = torch.zeros(2, 3)
    y.data = g
    assert y.device == CUDA0
    z = torch.zeros(2, 3)
    z.set_(g)
    assert z.device == CUDA0


def case_new_and_like() -> None:
    for made in (
        g.new_zeros(2),
        g.new_ones(2),
        g.new_full((2,), 1.0),
        g.new_empty(2),
        g.new_tensor([1.0]),
        g.new(2),
        torch.zeros_like(g),
        torch.empty_like(g),
        torch.rand_like(g),
        torch.full_like(g, 2.0),
    ):
        assert made.device == CUDA0
    assert g.new_zeros(2, device="cpu").device.type == "cpu"
    assert torch.zeros_like(x, device="cuda:1").device == CUDA1
    assert x.new_tensor([1.0], device=1).device == CUDA1


def case_factories() -> None:
    d = {"device": "cuda:1"}
    made = [
        torch.zeros(2, **d),
        torch.ones(2, **d),
        torch.full((2,), 1.0, **d),
        torch.empty(2, **d),
        torch.rand(2, **d),
        torch.randn(2, **d),
        torch.randint(0, 3, (2,), **d),
        torch.randperm(3, **d),
        torch.arange(3, **d),
        torch.linspace(0, 1, 3, **d),
        torch.logspace(0, 1, 3, **d),
        torch.eye(2, **d),
        torch.tensor([1, 2], **d),
        torch.as_tensor([1, 2], **d),
        torch.asarray([1, 2], **d),
        torch.scalar_tensor(1.0, **d),
        torch.normal(0.0, 1.0, (2,), **d),
        torch.tril_indices(2, 2, **d),
        torch.hann_window(4, **d),
        torch.fft.fftfreq(4, **d),
        torch.empty_strided((2,), (1,), **d),
        torch.zeros(2, device=1),
        torch.tensor([1], device=1),
    ]
    for tensor in made:
        assert tensor.device == CUDA1, tensor
    with raises(TypeError, "zeros()"):  # the rest of the text differs by release
        torch.zeros(2, device=True)


def case_factories_from_tensors() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert torch.tensor(g).device == CUDA0
    assert "To copy construct from a tensor" in str(caught[0].message)
    assert torch.as_tensor(g) is g and torch.as_tensor(g, device="cpu").device.type == "cpu"
    assert torch.as_tensor(x, device="cuda").device == CUDA0
    assert torch.tensor([g[0, 0], g[0, 1]]).device.type == "cpu"
    assert torch.as_tensor(x.numpy()).device.type == "cpu"
    assert torch.as_tensor(x.numpy(), device="cuda").device == CUDA0
    assert torch.from_numpy(x.numpy()).device.type == "cpu"
    sparse = torch.sparse_coo_tensor(torch.tensor([[0, 1]]).cuda(), torch.ones(2).cuda(), (3,))
    assert sparse.device == CUDA0 and sparse.to_dense().device == CUDA0
    assert torch.eye(3).to_sparse().cuda().device == CUDA0


def case_default_device() -> None:
    with torch.device("cuda:1"):
        assert torch.zeros(2).device == CUDA1 and torch.tensor(x).device == CUDA1
        assert nn.Linear(2, 2).weight.device == CUDA1
        assert torch.zeros(2, device="cpu").device.type == "cpu"
        assert torch.zeros_like(x).device.type == "cpu" and torch.from_numpy(x.numpy()).device.type == "cpu"
    torch.set_default_device("cuda")
    try:
        assert torch.zeros(2).device == CUDA0 and torch.get_default_device() == CUDA0
        assert torch.Tensor(2, 3).device.type == "cpu"  # the legacy constructor knows no default device
    finally:
        torch.set_default_device(None)
    assert torch.zeros(2).device.type == "cpu"


def case_legacy_types() -> None:
    assert torch.cuda.FloatTensor(2, 3).device == CUDA0 and torch.cuda.LongTensor([1]).dtype == torch.int64
    assert torch.FloatTensor([1.0]).device.type == "cpu"
    assert isinstance(g, torch.cuda.FloatTensor) and not isinstance(g, torch.FloatTensor)
    assert isinstance(x, torch.FloatTensor) and not isinstance(x, torch.DoubleTensor)


def case_current_device() -> None:
    assert torch.cuda.current_device() == 0
    with torch.cuda.device(1):
        assert torch.zeros(1, device="cuda").device == CUDA1 and torch.cuda.current_device() == 1
    torch.cuda.set_device("cuda:1")
    try:
        assert x.cuda().device == CUDA1
        assert x.type("torch.cuda.FloatTensor").device == CUDA1
        with torch.cuda.device_of(g):
            assert torch.cuda.current_device() == 0
    finally:
        torch.cuda.set_device(0)
    assert x.cuda().device == CUDA0


def case_questions() -> None:
    assert torch.cuda.is_available() and torch.cuda.device_count() == 2 and torch.cuda.is_initialized()
    assert torch.backends.cuda.is_built() and torch.version.cuda
    assert torch.cuda.get_device_name(0) and torch.cuda.get_device_capability("cuda:1") == (8, 0)
    assert torch.cuda.get_device_properties(0).total_memory > 0 and torch.cuda.memory_allocated() == 0
    assert torch.accelerator.is_available() and torch.accelerator.current_accelerator().type == "cuda"
    assert torch.accelerator.device_count() == 2
    torch.cuda.empty_cache()
    torch.cuda.synchronize()
    torch.cuda.manual_seed_all(0)


def case_bad_ordinal() -> None:
    for call in (
        lambda: x.to("cuda:2"),
        lambda: x.cuda(5),
        lambda: torch.zeros(1, device="cuda:7"),
        lambda: torch.cuda.set_device(2),
    ):
        with raises(ACCELERATOR_ERROR, "CUDA error: invalid device ordinal"):
            call()


def case_device_class() -> None:
    assert torch.device(1) == CUDA1 and torch.device("cpu").type == "cpu"
    device = torch.device("cuda", 1)
    assert isinstance(device, torch.device) and not isinstance("cuda", torch.device)
    assert type(device) == torch.device and {torch.device: 1}[type(device)] == 1  # noqa: E721
    for back in (copy.deepcopy(device), pickle.loads(pickle.dumps(device))):
        assert back == device
    buffer = io.BytesIO()
    torch.save({"device": device}, buffer)
    buffer.seek(0)
    assert torch.load(buffer, weights_only=True)["device"] == device
    annotation: torch.device | None = None
    assert annotation is None and "torch.device" in repr(torch.device | None)


def case_copies_and_pickles() -> None:
    layer = nn.Linear(2, 2).cuda(1)
    assert copy.deepcopy(layer).weight.device == CUDA1
    assert copy.deepcopy(g).device == CUDA0 and copy.copy(g).device == CUDA0
    assert pickle.loads(pickle.dumps(g)).device == CUDA0
    assert g.untyped_storage().clone().device == CUDA0


def case_modules() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    identity = id(model[0].weight)
    model.cuda()
    assert id(model[0].weight) == identity and model[0].weight.is_leaf
    assert all(p.device == CUDA0 for p in model.parameters()) and all(b.device == CUDA0 for b in model.buffers())
    assert next(model.to("cuda:1").parameters()).device == CUDA1
    assert next(model.cpu().parameters()).device.type == "cpu"
    for moved in (model.to(1), model.to(device=1), model.to(torch.zeros(1, device="cuda:1"))):
        assert next(moved.parameters()).device == CUDA1
    with raises(RuntimeError, "CUDA error: invalid device ordinal"):
        model.to(7)
    parameter = nn.Parameter(torch.zeros(2)).cuda()
    assert not parameter.is_leaf and parameter.device == CUDA0
    lazy = nn.LazyLinear(3).cuda()
    assert lazy(torch.zeros(2, 4, device="cuda")).device == CUDA0
    with torch.device("meta"):
        ghost = nn.Linear(2, 2)
    assert ghost.weight.device.type == "meta" and ghost.to_empty(device="cuda").weight.device == CUDA0


def case_generators() -> None:
    on_gpu, on_cpu = torch.Generator(device="cuda").manual_seed(1), torch.Generator().manual_seed(1)
    assert on_gpu.device.type == "cuda" and on_cpu.device.type == "cpu"
    assert torch.equal(torch.rand(3, device="cuda", generator=on_gpu).cpu(), torch.rand(3, generator=on_cpu))
    with raises(RuntimeError, "Expected a 'cuda' device type for generator but found 'cpu'") as caught:
        torch.randn(2, device="cuda", generator=torch.Generator())
    (told,) = caught[0].torchdevlint_places.tensors  # type: ignore[attr-defined]
    assert (told.name, told.device) == ("generator", "cpu") and told.created.file.endswith("surfaces.py")
    with raises(RuntimeError, "Expected a 'cpu' device type for generator but found 'cuda'"):
        torch.randn(2, generator=on_gpu)
    with raises(RuntimeError, "Expected a 'cuda' device type for generator but found 'cpu'"):
        g.clone().uniform_(generator=torch.Generator())
    on_gpu.set_state(on_cpu.get_state())


def case_rng_states_are_cpu_bytes() -> None:
    state = torch.get_rng_state()
    for call in (torch.set_rng_state, torch.cuda.set_rng_state, torch.Generator(device="cuda").set_state):
        with raises(TypeError, "RNG state must be a torch.ByteTensor"):
            call(state.cuda())
        call(state)
    torch.cuda.set_rng_state_all(torch.cuda.get_rng_state_all())


def case_streams_and_events() -> None:
    stream, begin, end = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    with torch.cuda.stream(stream):
        torch.ones(3, device="cuda").sum()
    end.record()
    stream.synchronize()
    torch.cuda.current_stream().wait_stream(stream)
    assert begin.elapsed_time(end) >= 0 and stream.query() and end.query()
    with torch.cuda.stream(None):
        pass
    g.record_stream(stream)


def case_amp() -> None:
    model, scaler = nn.Linear(3, 2).cuda(), torch.amp.GradScaler("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with torch.autocast("cuda"):
        assert torch.is_autocast_enabled()
        out = model(g)
        loss = out.float().sum()
    assert out.dtype == torch.float16 and out.is_cuda and not torch.is_autocast_enabled()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.is_enabled()
    with torch.amp.autocast("cuda", dtype=torch.bfloat16):
        assert model(g).dtype == torch.bfloat16


def case_pinned_memory() -> None:
    pinned = x.pin_memory()
    assert (
        pinned.is_pinned()
        and not x.is_pinned()
        and pinned[0].is_pinned()
        and torch.empty(2, pin_memory=True).is_pinned()
    )
    with raises(RuntimeError, "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"):
        g.pin_memory()
    assert pinned.to("cuda", non_blocking=True).device == CUDA0


def case_host_reads() -> None:
    assert g.tolist() == x.tolist() and g[0, 1].item() == 1.0 and float(g[0, 1]) == 1.0 and bool(g[0, 1])
    assert x.numpy().shape == (2, 3) and g.cpu().numpy().sum() == 15.0


def case_copies_between_devices() -> None:
    target = torch.zeros(2, 3, device="cuda:1")
    assert target.copy_(x).device == CUDA1 and torch.equal(target.cpu(), x)
    source = torch.ones(2, 3, requires_grad=True)
    (torch.zeros(2, 3, device="cuda").copy_(source) * 2).sum().backward()
    assert source.grad.device.type == "cpu" and source.grad.sum() == 12


def case_subclasses_survive_moves() -> None:
    class Labelled(torch.Tensor):
        pass

    labelled = x.as_subclass(Labelled)
    assert type(labelled.cuda()) is Labelled and labelled.to("cuda").device == CUDA0
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
    assert nested.cuda().device.type == "cuda"


def case_vmap_and_grad() -> None:
    weights = torch.rand(3, device="cuda")
    gradients = torch.func.vmap(torch.func.grad(lambda w, row: (w * row).sum()), in_dims=(None, 0))(weights, g)
    assert gradients.device == CUDA0
    assert torch.func.vmap(lambda row: row * 2 if row.device.type == "cuda" else row.cpu())(g).device == CUDA0
    factor = torch.full((2,), 2.0, device="cuda")
    value, tangent = torch.func.jvp(lambda v: v.cuda() * factor, (torch.ones(2),), (torch.ones(2),))
    assert value.device == tangent.device == CUDA0 and tangent.tolist() == [2.0, 2.0]
    assert torch.autograd.functional.jacobian(lambda v: v.cuda() ** 2, torch.ones(2)).device.type == "cpu"


def case_threads() -> None:
    import threading

    seen = []
    thread = threading.Thread(target=lambda: seen.append((g + 1).device))
    thread.start()
    thread.join()
    assert seen == [CUDA0]


def case_compilers_run_eagerly_and_say_so() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled = torch.compile(nn.Linear(3, 2).cuda())
    assert compiled(g).is_cuda and "runs eagerly on a virtual GPU" in str(caught[0].message)
    assert any("torch.compile" in note for note in MACHINE.notes)  # noqa: F821
    assert torch.jit.script(nn.Linear(3, 2)).cuda()(g).is_cuda
    assert torch.jit.trace(nn.Linear(3, 2).cuda(), g)(g).is_cuda
    with raises(NotImplementedError, "a virtual GPU cannot save TorchScript"):
        torch.jit.save(torch.jit.trace(nn.Linear(3, 2), torch.zeros(1, 3)), io.BytesIO())


def case_tracers_are_refused() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    for call in (
        FakeTensorMode,
        lambda: torch.export.export(nn.Linear(3, 2).cuda(), (g,)),
        lambda: torch._dynamo.optimize("eager")(lambda t: t + 1)(g),
        lambda: torch._dynamo.export(lambda t: t + 1)(g),
        lambda: torch._dynamo.explain(lambda t: t + 1)(g),
    ):
        with raises(NotImplementedError, "a virtual GPU cannot"):
            call()
    with raises(NotImplementedError, "a virtual GPU cannot judge CUDA graphs"):
        torch.cuda.CUDAGraph()


def case_dynamo_can_be_reset() -> None:
    """A program of CUDA resets CUDA graphs as well, through names that a CPU build lacks."""
    import torch._dynamo

    torch._dynamo.reset()


def case_dynamo_can_be_imported_after_the_start() -> None:
    import torch._dynamo

    assert torch.Tensor.device.fget is not None and torch.zeros(1, device="cuda").is_cuda


def case_rnns() -> None:
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    lstm = nn.LSTM(3, 4, batch_first=True).cuda()
    packed = pack_padded_sequence(torch.rand(2, 5, 3, device="cuda"), torch.tensor([5, 3]), batch_first=True)
    assert packed.batch_sizes.device.type == "cpu" and packed.data.device == CUDA0
    out, (hidden, _) = lstm(packed)
    padded, lengths = pad_packed_sequence(out, batch_first=True)
    assert padded.device == hidden.device == CUDA0 and lengths.device.type == "cpu"
    padded.sum().backward()
    assert lstm.weight_ih_l0.grad.device == CUDA0


def case_ctc_loss() -> None:
    scores = torch.rand(5, 2, 4, device="cuda").log_softmax(2).requires_grad_()
    lengths = torch.tensor([5, 5]), torch.tensor([2, 2])
    nn.CTCLoss()(scores, torch.ones(2, 2, dtype=torch.long, device="cuda"), *lengths).backward()
    assert scores.grad.device == CUDA0


def case_memory_for_other_libraries() -> None:
    import numpy as np

    shared = torch.from_dlpack(g)
    assert shared.device == CUDA0 and shared.data_ptr() == g.data_ptr()
    assert np.from_dlpack(x).shape == (2, 3) and torch.from_dlpack(np.ones(2)).device.type == "cpu"
    assert not hasattr(g, "__cuda_array_interface__") and not hasattr(x, "__cuda_array_interface__")
    with raises(BufferError, "a virtual GPU cannot give its memory to other libraries"):
        g.__dlpack__()


def case_lazy_parameter_tells_its_device() -> None:
    lazy = nn.LazyLinear(3)
    assert lazy.weight.device.type == "cpu" and not lazy.weight.is_cuda
    lazy.cuda()
    assert lazy.weight.device == CUDA0 and lazy.weight.is_cuda
    lazy(g)
    assert lazy.weight.device == CUDA0


def case_sparse_tensors_by_keyword() -> None:
    indices, values = torch.tensor([[0, 1], [1, 0]], device="cuda"), torch.ones(2, device="cuda")
    rows, columns = torch.tensor([0, 1, 2], device="cuda"), torch.tensor([0, 1], device="cuda")
    assert torch.sparse_coo_tensor(indices=indices, values=values, size=(2, 2)).device == CUDA0
    assert torch.sparse_coo_tensor(indices, values=values).device == CUDA0
    assert torch.sparse_csr_tensor(crow_indices=rows, col_indices=columns, values=values).device == CUDA0
    assert torch.sparse_coo_tensor(indices=indices, values=values.cpu(), size=(2, 2)).device.type == "cpu"


def case_type_of_the_default_tensor_type() -> None:
    # torch/csrc/utils/tensor_types.cpp, options_from_string: "torch.Tensor" is the default type, a CPU one
    assert g.double().type(torch.Tensor).device.type == "cpu" and g.double().type(torch.Tensor).dtype == torch.float32
    assert g.type("torch.Tensor").device.type == "cpu"


def case_legacy_types_refuse_another_device() -> None:
    with raises(RuntimeError, "legacy constructor expects device type: cpu but device type: cuda was passed"):
        torch.FloatTensor([1.0], device="cuda")
    with raises(RuntimeError, "legacy constructor expects device type: cuda but device type: cpu was passed"):
        torch.cuda.FloatTensor([1.0], device="cpu")
    assert torch.cuda.FloatTensor([1.0], device="cuda:1").device == CUDA1


class Wrapped(torch.Tensor):
    """A wrapper subclass that its operators keep, as torch_geometric's EdgeIndex."""

    @staticmethod
    def __new__(cls, data):
        made = torch.Tensor._make_wrapper_subclass(cls, data.size(), dtype=data.dtype, device=data.device)
        made.data_ = data
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        inner = [arg.data_ if isinstance(arg, cls) else arg for arg in args]
        made = func(*inner, **(kwargs or {}))
        return cls(made) if isinstance(made, torch.Tensor) else made


def case_wrapper_subclasses_keep_their_device() -> None:
    on_gpu, on_host = Wrapped(g), Wrapped(x)
    assert on_gpu.device == CUDA0 and on_gpu.is_cuda and on_host.device.type == "cpu"
    for made in (on_gpu.clone(), on_gpu + g, on_gpu * 2, on_gpu.sum(), on_host.cuda(), on_host.to("cuda")):
        assert type(made) is Wrapped and made.device == made.data_.device == CUDA0, made.device
    assert on_gpu.cpu().device.type == on_gpu.cpu().data_.device.type == "cpu"
    with raises(RuntimeError, "Expected all tensors to be on the same device"):
        on_gpu + x
    with raises(RuntimeError, "Expected all tensors to be on the same device"):
        on_host + g
