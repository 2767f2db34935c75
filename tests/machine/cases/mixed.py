"""Operators that mix devices: the native texts, and what CUDA allows."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from _support import exact, raises, same_device

SHAPE = {"gpus": 2}
TWO = ", but found at least two devices, cuda:0 and cpu!"

c, g = torch.zeros(4, 4), torch.zeros(4, 4, device="cuda")
c1, g1 = torch.zeros(4), torch.zeros(4, device="cuda")
c0, g0 = torch.tensor(1.0), torch.tensor(1.0, device="cuda")
ci = torch.zeros(4, dtype=torch.long)
gi = ci.cuda()
h = torch.zeros(4, 4, device="cuda:1")


def case_wording_of_this_release() -> None:
    if torch.__version__.startswith("2.13"):
        with raises(RuntimeError, "but got mat2 is on cpu, different from other tensors on cuda:0 (when checking"):
            g @ c
    elif torch.__version__.startswith("2.6"):
        with raises(
            RuntimeError, "but found at least two devices, cuda:0 and cpu! (when checking argument for argument"
        ):
            g @ c


def case_binary() -> None:
    for call in (lambda: g + c, lambda: c + g, lambda: g * c1, lambda: g1 - c1, lambda: torch.maximum(g, c)):
        with same_device(TWO):
            call()


def case_two_gpus() -> None:
    with same_device(", but found at least two devices, cuda:0 and cuda:1!"):
        g + h
    with same_device(", but found at least two devices, cuda:1 and cuda:0!"):
        h + g
    with exact("mat2", "cuda:1", "cuda:0", "wrapper_CUDA_mm"):
        g @ h


def case_host_scalars() -> None:
    assert (g + c0).device == torch.device("cuda:0")
    assert (c0 + g).is_cuda
    assert (g0 + c0).is_cuda
    assert g.mul_(c0).is_cuda
    assert torch.where(g > 0, g, c0).is_cuda
    assert torch.where(g > 0, c0, c0).is_cuda
    assert torch.maximum(g, c0).is_cuda
    assert torch.where(c0 > 0, g, g).is_cuda
    assert torch.where(c0 > 0, c0, g).is_cuda
    with same_device(TWO):
        torch.where(c1 > 0, g, g)
    with raises(RuntimeError, "Trying to pass too many CPU scalars to non-CPU kernel!"):
        torch.addcmul(g, c0, c0)
    with same_device(TWO):  # an output is never a scalar input
        torch.tensor(1.0).add_(g0)


def case_host_scalars_of_ternary_kernels() -> None:
    """Only addcmul's tensor2 and lerp's weight may stay on the host; all three refuse before 2.7."""
    release = tuple(int(part) for part in torch.__version__.split(".")[:2])
    refused = [
        (lambda: torch.addcdiv(g, g, c0), "argument 3: expected a CUDA device but found cpu"),
        (lambda: torch.lerp(g, c0, g), "argument 2: expected a CUDA device but found cpu"),
    ]
    if release >= (2, 7):
        assert torch.lerp(g, g, c0).is_cuda
        assert torch.addcmul(g, g, c0).is_cuda
        assert g.clone().addcmul_(g, c0).is_cuda
        refused += [
            (lambda: torch.addcmul(g, c0, g), "CPU Scalar support for tensor1 argument is not supported"),
            (lambda: torch.addcmul(c0, g, g), "CPU Scalar support for self argument is not supported"),
        ]
    else:
        refused += [
            (lambda: torch.lerp(g, g, c0), "expected a CUDA device"),
            (lambda: torch.addcmul(g, g, c0), "expected"),
        ]
    for call, text in refused:
        with raises(RuntimeError, text):
            call()
    with same_device(TWO):
        torch.lerp(g, g, c1)


def case_matrix_products() -> None:
    with exact("mat2", "cpu", "cuda:0", "wrapper_CUDA_mm"):
        g @ c
    with exact("mat2", "cuda:0", "cpu", "wrapper_CUDA_mm"):  # the first argument sets the common device
        c @ g
    with exact("min", "cpu", "cuda:0", "wrapper_CUDA_clamp_Tensor"):  # a kernel that makes no exception for scalars
        torch.clamp(g, min=c0)
    with exact("mat2", "cpu", "cuda:0", "wrapper_CUDA_bmm"):
        torch.bmm(g[None], c[None])


def case_layers() -> None:
    with exact("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"):
        nn.Linear(4, 4).cuda()(c)
    with exact("index", "cpu", "cuda:0", "wrapper_CUDA__index_select"):
        nn.Embedding(4, 4).cuda()(ci)
    with raises(
        RuntimeError, "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same"
    ):
        nn.Conv2d(1, 1, 1).cuda()(c[None, None])
    with raises(
        RuntimeError, "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same"
    ):
        nn.Conv2d(1, 1, 1)(g[None, None])
    with raises(RuntimeError, "Input and hidden tensors are not at the same device"):
        nn.LSTM(4, 4).cuda()(g[None], (torch.zeros(1, 4, 4), torch.zeros(1, 4, 4)))
    with raises(RuntimeError, "Input and parameter tensors are not at the same device, found input tensor at cpu"):
        nn.GRU(4, 4).cuda()(c[None], torch.zeros(1, 4, 4))
    with same_device():
        nn.BatchNorm1d(4).cuda()(c)
    with same_device():
        nn.LayerNorm(4).cuda()(c)


def case_losses() -> None:
    with same_device():
        F.cross_entropy(g, ci)
    with same_device():
        nn.CrossEntropyLoss(weight=c1)(g, gi)
    with same_device(TWO):
        F.mse_loss(g, c)
    with same_device(TWO):
        F.binary_cross_entropy_with_logits(g, g, pos_weight=c1)


def case_indexing() -> None:
    assert g[ci].is_cuda
    assert g[ci[0]].is_cuda
    with raises(RuntimeError, "indices should be either on cpu or on the same device as the indexed tensor (cpu)"):
        c[gi]
    with raises(RuntimeError, "indices should be either on cpu or on the same device as the indexed tensor (cuda:0)"):
        g[gi.to("cuda:1")]
    g[ci] = c0
    g[0] = c1  # copy_ crosses devices
    c[0] = g1
    with same_device(TWO):
        g[gi] = c
    with exact("index", "cpu", "cuda:0", "wrapper_CUDA_gather"):
        g.gather(0, ci[:, None])


def case_values_on_another_device() -> None:
    rows = torch.zeros(4, 1)
    rows[0] = g0  # the shapes differ: the value is expanded and copied
    rows[1:3] = g0
    assert rows.fill_(g0).device == torch.device("cpu")
    assert g.clone().fill_(torch.tensor(2.0)).is_cuda


def case_joins() -> None:
    with same_device():
        torch.cat([g, c])
    with same_device():
        torch.stack([g0, c0])


def case_other_refusals() -> None:
    with raises(RuntimeError, "Cannot compare two tensors on different devices. Got: cuda:0 and cpu"):
        torch.equal(g, c)
    with raises(
        RuntimeError, "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0"
    ):
        g.masked_fill(c.bool(), 0.0)
    with raises(RuntimeError, "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor"):
        torch._C._VariableFunctions._pack_padded_sequence(g[None], torch.tensor([4]).cuda(), True)
    with raises(RuntimeError, "Expected query, key, and value to have the same device type"):
        F.scaled_dot_product_attention(g[None, None], c[None, None], g[None, None])


def case_numpy() -> None:
    text = "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
    for call in (g.numpy, lambda: np.asarray(g), lambda: np.isnan(g), lambda: np.vstack([g, g])):
        with raises(TypeError, text):
            call()
    assert isinstance(g.numpy(force=True), np.ndarray)


def case_backward_and_gradients() -> None:
    leaf = torch.ones(3, device="cuda", requires_grad=True)
    (leaf * 2).sum().backward()
    assert leaf.grad is not None and leaf.grad.device == torch.device("cuda:0")
    with raises(
        RuntimeError, "attempting to assign a gradient with device type 'cpu' to a tensor with device type 'cuda'"
    ):
        leaf.grad = torch.ones(3)
    with raises(
        RuntimeError,
        "attempting to assign a gradient located on device with index 1 to a tensor located on device with index 0",
    ):
        leaf.grad = torch.ones(3, device="cuda:1")
    source = torch.ones(3, requires_grad=True)
    moved = source.cuda()
    assert not moved.is_leaf
    moved.sum().backward()
    assert source.grad is not None and source.grad.device.type == "cpu"


def case_gradients_that_autograd_fills_in() -> None:
    """The zeros in the place of a missing gradient are on the device of what they meet: indices, a mask, weights."""

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):  # type: ignore[no-untyped-def]
            ctx.save_for_backward(x)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, first, _):  # type: ignore[no-untyped-def]
            (x,) = ctx.saved_tensors
            gradient = first.clone()
            gradient[x > 0] = 1
            filled = first.clone().masked_fill(x > 0, 2.0)
            picked = first.clone()[x > 0]
            assert gradient.is_cuda and filled.is_cuda and picked.is_cuda
            return gradient

    x = torch.ones(3, device="cuda", requires_grad=True)
    Two.apply(x)[1].sum().backward()
    assert x.grad is not None and x.grad.is_cuda


def case_foreach() -> None:
    with same_device(TWO):
        torch._foreach_add([g1, g1], [g1, c1])
    mixed = torch._foreach_add([g1, c1], 1.0)
    assert [t.device.type for t in mixed] == ["cuda", "cpu"]


def case_optimizer_state_left_behind() -> None:
    layer = nn.Linear(4, 4)
    optimizer = torch.optim.Adam(layer.parameters(), foreach=True)
    layer(c).sum().backward()
    optimizer.step()
    layer.cuda()
    layer(g).sum().backward()
    with raises(RuntimeError, "Tensors of the same index must be on the same device"):
        optimizer.step()


def case_guilty_lines() -> None:
    weight = torch.zeros(4)
    data = torch.zeros(4).cuda()
    try:
        data + weight
    except RuntimeError as error:
        places = error.torchdevlint_places
    lines = {story.name: (story.created.line, story.moved and story.moved.line) for story in places.tensors}
    first = case_guilty_lines.__code__.co_firstlineno
    assert lines == {"self": (first + 2, first + 2), "other": (first + 1, None)}, lines
    assert places.met.line == first + 4
    assert places.describe().endswith(f"met at mixed.py:{first + 4}")


def case_guilty_tensor_of_a_list() -> None:
    first = case_guilty_tensor_of_a_list.__code__.co_firstlineno
    there = torch.ones(2, 2, device="cuda")
    left = torch.Tensor([[1.0, 2.0]])
    for join in (lambda: torch.cat([there, there, left]), lambda: torch.stack([there[:1], left])):
        try:
            join()
        except RuntimeError as error:
            lines = {story.device: story.created.line for story in error.torchdevlint_places.tensors}
        assert lines == {"cuda:0": first + 2, "cpu": first + 3}, lines


def case_guilty_lines_of_a_model() -> None:
    first = case_guilty_lines_of_a_model.__code__.co_firstlineno
    model = nn.Linear(4, 4)
    model.cuda()
    try:
        model(torch.zeros(2, 4))
    except RuntimeError as error:
        stories = {story.name: story for story in error.torchdevlint_places.tensors}
    assert stories["mat2"].created.line == first + 2 and stories["mat2"].moved.line == first + 3
    assert MACHINE.where_born(model.weight).line == first + 2  # noqa: F821
    assert MACHINE.where_moved(model.weight).line == first + 3  # noqa: F821


def case_custom_operator_is_not_judged() -> None:
    @torch.library.custom_op("tdltest::pick", mutates_args=())
    def pick(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a.clone()

    assert pick(g1, g1).is_cuda
    assert not MACHINE.unjudged  # noqa: F821
    assert pick(g1, c1).is_cuda
    assert any("tdltest" in operator for operator in MACHINE.unjudged)  # noqa: F821


def case_composites_that_check_in_cpp() -> None:
    q, sixteen = torch.tensor([0.5]), torch.rand(16, device="cuda")
    spectrum = torch.stft(sixteen, 4, window=torch.ones(4, device="cuda"), return_complex=True)
    both = "must be on the same device but got self on cuda:0 and window on cpu"
    refused = [
        (lambda: torch.stft(sixteen, 4, window=c1, return_complex=True), f"stft input and window {both}"),
        (lambda: torch.istft(spectrum, 4, window=c1), f"istft input and window {both}"),
        (lambda: torch.quantile(g, q), "quantile() q tensor must be on the same device as the input tensor"),
        (lambda: g.nanquantile(q), "quantile() q tensor must be on the same device as the input tensor"),
        (lambda: torch._weight_norm(g, c1[:, None]), "but v_in is on cuda:0 and g_in is on cpu"),
        (lambda: torch.gradient(g1, spacing=(c1,)), "torch.gradient expected each tensor to be on the same device"),
        (lambda: torch.linalg.multi_dot([g, c, g]), "but tensor 0 is on cuda:0 and tensor 1 on cpu"),
        (lambda: torch.chain_matmul(g, c), "multi_dot(): all tensors must be on the same device"),
        (
            lambda: torch.cholesky_solve(c, g),
            "Expected b and A to be on the same device, but found b on cpu and A on cuda:0",
        ),
        (lambda: torch.block_diag(g, c), "Input 0 is on device cuda:0 and input 1 is on device cpu"),
        (lambda: torch.meshgrid(g1, c1, indexing="ij"), "meshgrid expects all tensors to have the same device"),
        (lambda: torch.tensor_split(g, gi[:1]), "tensor_indices_or_sections to be on cpu, but it's on cuda:0"),
        (lambda: g.tensor_split(gi[:1]), "tensor_indices_or_sections to be on cpu, but it's on cuda:0"),
        (
            lambda: torch.take_along_dim(g, ci[None]),
            "Expected tensor to have cuda Device, but got tensor with cpu Device",
        ),
        (
            lambda: torch.sparse_coo_tensor(ci[None], g1, (1,)),
            "backend of indices (CPU) must match backend of values (CUDA)",
        ),
        (lambda: torch.searchsorted(g1, g1, sorter=ci), "sorter and boundary tensors should have same device type"),
        (lambda: torch.searchsorted(g1, c1), "Expected all tensors to be on the same device, but"),
        (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)).cuda()(c), "Expected all tensors to be on the"),
    ]
    for call, text in refused:
        with raises(RuntimeError, text):
            call()
    old = nn.utils.weight_norm(nn.Linear(4, 4)).cuda()
    assert old(g).is_cuda and torch.quantile(g, q.cuda()).is_cuda and torch.block_diag(g, g).is_cuda
    assert torch.sparse_coo_tensor(gi[None], g1, (1,)).device == torch.device("cuda:0")
    assert torch.sparse_coo_tensor(ci[None], g1, (1,), device="cuda").device == torch.device("cuda:0")


def case_gradients_that_are_given() -> None:
    x = torch.ones(4, device="cuda", requires_grad=True)
    with raises(RuntimeError, "invalid gradient at index 0 - expected device cuda:0 but got cpu"):
        (x * 2).backward(c1)
    with raises(RuntimeError, "invalid gradient at index 0 - expected device cuda:0 but got cpu"):
        torch.autograd.grad(x * 2, x, c1)
    (x * 2).backward(torch.ones_like(x))
    (x * 2).sum().backward(c0)  # a number is moved
    assert x.grad.is_cuda and x.grad.sum() == 16


def case_nested_tensors_are_where_their_first_one_is() -> None:
    assert torch.nested.nested_tensor([g1, g1]).unbind()[0].is_cuda
    assert not torch.nested.nested_tensor([c1, c1]).unbind()[0].is_cuda
    assert torch.nested.nested_tensor([c1, c1], device="cuda").unbind()[0].is_cuda


def case_targets_of_ctc_loss_are_moved() -> None:
    scores = torch.zeros(4, 2, 3, device="cuda").log_softmax(2)
    sizes = torch.tensor([4, 4]), torch.tensor([2, 2])
    assert F.ctc_loss(scores, torch.ones(2, 2, dtype=torch.long), *sizes).is_cuda


def case_inference_mode() -> None:
    with torch.inference_mode():
        assert g.double().is_cuda and nn.Linear(4, 4).cuda()(g).reshape(-1).is_cuda and g.to(torch.float16).is_cuda
        with exact("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"):
            nn.Linear(4, 4).cuda()(c)
        with same_device(TWO):
            g + c
