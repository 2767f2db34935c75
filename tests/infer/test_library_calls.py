"""What calls of torch, NumPy and Python's library do with devices, call by call. Each line was run on a virtual GPU machine: it fails there where it is marked."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from torchdevlint.infer import analysis, library
from torchdevlint.program import from_ast

IMPORTS = """
import copy, io, itertools, operator
from collections import UserDict, defaultdict, deque

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

t = torch.ones(4, 4, device="cuda")
v = torch.ones(4, device="cuda")
i = torch.zeros(4, dtype=torch.long, device="cuda")
c = torch.ones(4, 4)
w = torch.ones(4)
n = torch.tensor(0.5)
"""

# Each case: its lines, in which `# fault` marks where tensors meet that must not.
CASES = {
    "reductions to a number, which may meet tensors on a GPU": """
        t * c.mean((0, 1))
        t * c.mean(dim=[0, 1])
        t * c.mean(1)  # fault
        t * w.mean(dim=0)
        t * w.mean(dim=0, keepdim=True)  # fault
        t * c.max(1).values  # fault
        t * w.max(0).values
        t * w.max(0)[1]
        t * torch.std_mean(w)[0]
        t * torch.var_mean(c, dim=1)[1]  # fault
        t * c.std(keepdim=True)  # fault
        t * torch.quantile(w, 0.5)
        t * c.count_nonzero()
        t * torch.linalg.norm(c)
        t * torch.linalg.vector_norm(c, dim=1)  # fault
        t * torch.linalg.matrix_norm(c)
        t * torch.linalg.det(c)
        t * torch.linalg.svdvals(c)  # fault
        t * torch.linalg.svd(c).S[0]
    """,
    "products of vectors are numbers": """
        t * w.dot(w)
        t * (w @ w)
        t * torch.matmul(w, w)
        t * (c @ w)  # fault
        t * torch.inner(w, w)
        t * torch.outer(w, w)  # fault
        t * torch.einsum("i,i->", w, w)
        t * torch.einsum("i,i->i", w, w)  # fault
        t * torch.dist(w, w)
        t * F.cosine_similarity(w, w, dim=0)
        t * F.cosine_similarity(c, c)  # fault
        t * F.pairwise_distance(w, w)
    """,
    "items of what has one dimension": """
        t * c.flatten()[0]
        t * torch.cat([w, w])[0]
        t * torch.cat([c, c])[0]  # fault
        t * torch.vstack([w, w])[0]  # fault
        t * c.view(-1)[0]
        t * c.take(torch.tensor(1))
        t * c.diagonal()[0]
        t * c.select(0, 1)  # fault
        t * w.unbind()[0]
        t * c.unbind()[0]  # fault
    """,
    "losses are numbers, but without a reduction": """
        t + F.mse_loss(c, c)
        t + F.mse_loss(c, c, reduction="none")  # fault
        t + F.triplet_margin_loss(c, c, c)
        t + F.margin_ranking_loss(w, w, w)
        t + F.poisson_nll_loss(c, c, reduction="none")  # fault
        t + nn.MSELoss()(c, c)
        t + nn.MSELoss(reduction="none")(c, c)  # fault
        t + nn.CosineSimilarity(dim=0)(w, w)
        t + nn.CosineSimilarity()(c, c)  # fault
    """,
    "a number and a number in a loss": """
        F.mse_loss(t.sum(), n)
        F.mse_loss(t, n)  # fault
        F.mse_loss(t.sum(), w)  # fault
        F.smooth_l1_loss(n, t.sum())
        F.huber_loss(t.sum(), n)  # fault
        F.kl_div(t, n)
        F.kl_div(t, c)  # fault
        nn.MSELoss()(t.sum(), n)
        nn.MSELoss()(t, n)  # fault
        nn.L1Loss()(t.sum(), n)
        nn.HuberLoss()(t.sum(), n)  # fault
        nn.BCELoss()(t.sum() * 0, n)
    """,
    "operators that let a number through, or not": """
        torch.isclose(t, n)
        torch.isclose(t, w)  # fault
        torch.float_power(t, n)
        t.ldexp(n)
        torch.addcmul(t, t, n)
        torch.addcmul(t, n, t)  # fault
        torch.addcdiv(t, t, n)  # fault
        t.masked_fill(t > 0, n)
        t.masked_fill(n > 0, 1.0)  # fault
        t.clamp(max=n)  # fault
        torch.narrow(t, 0, torch.tensor(1), 2)
    """,
    "modules that are made of other things than sizes": """
        nn.Embedding.from_pretrained(c)(i)  # fault
        nn.Embedding.from_pretrained(t)(i)
        nn.Embedding.from_pretrained(c, freeze=False).weight + t  # fault
        nn.Embedding.from_pretrained(c).cuda()(i)
        nn.EmbeddingBag.from_pretrained(c)(i.view(2, 2))  # fault
        nn.utils.skip_init(nn.Linear, 4, 4)(t)  # fault
        nn.utils.skip_init(nn.Linear, 4, 4, device="cuda")(t)
        nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.Linear(4, 4)))(t)  # fault
        nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.Linear(4, 4))).cuda()(t)
        nn.Sequential(nn.Linear(4, 4)).cuda().get_submodule("0")(c)  # fault
        nn.Sequential(nn.Linear(4, 4)).cuda().get_submodule("0")(t)
        nn.BatchNorm1d(4).cuda().num_batches_tracked + torch.zeros(1)  # fault
    """,
    "an averaged model is a copy": """
        averaged = torch.optim.swa_utils.AveragedModel(nn.Linear(4, 4).cuda())
        averaged(t)
        averaged(c)  # fault
        averaged.module.weight + c  # fault
        torch.optim.swa_utils.AveragedModel(nn.Linear(4, 4).cuda(), device="cpu")(t)  # fault
        torch.optim.swa_utils.AveragedModel(nn.Linear(4, 4), device="cuda")(t)
        loader = DataLoader(TensorDataset(c), batch_size=2)
        torch.optim.swa_utils.update_bn(loader, averaged, device="cuda")
    """,
    "an averaged model whose statistics are renewed": """
        averaged = torch.optim.swa_utils.AveragedModel(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).cuda())
        loader = DataLoader(TensorDataset(c), batch_size=2)
        torch.optim.swa_utils.update_bn(loader, averaged)  # fault
    """,
    "pruned, quantized": """
        import torch.nn.utils.prune as prune
        layer = nn.Linear(4, 4).cuda()
        prune.l1_unstructured(layer, "weight", amount=0.5)(t)
        prune.random_unstructured(layer, "bias", amount=1)(c)  # fault
        layer.weight_mask * c  # fault
        layer.weight_orig * t
        small = torch.ao.quantization.quantize_dynamic(nn.Linear(4, 4), {nn.Linear}, dtype=torch.qint8)
        small(c) + t  # fault
    """,
    "norms of gradients are where the parameters are": """
        layer = nn.Linear(4, 4).cuda()
        layer(t).sum().backward()
        norm = nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        norm * c  # fault
        np.mean([norm])  # fault
        np.mean([norm.item()])
        nn.utils.get_total_norm([layer.weight]) * t
        nn.utils.clip_grad_norm_(nn.Linear(4, 4).parameters(), 1.0) * t
    """,
    "sequences": """
        packed = nn.utils.rnn.pack_padded_sequence(torch.ones(4, 4, 1, device="cuda"), torch.tensor([4, 3, 2, 1]), enforce_sorted=False)
        packed.data * c  # fault
        packed.batch_sizes * n
        packed.data[packed.sorted_indices] * torch.ones(3, device="cuda")[:1]
        nn.utils.rnn.PackedSequence(packed.data, packed.batch_sizes).data * torch.ones(1)  # fault
    """,
    "data sets and what they hold": """
        data = TensorDataset(t, i)
        data.tensors[0] + c  # fault
        data[0][0] + w  # fault
        data[:2][0] + c[:2]  # fault
        data[0][1] + n
        part = torch.utils.data.Subset(data, [0, 1])
        part.dataset.tensors[0] + c  # fault
        part[0][0] + w  # fault
        first, second = torch.utils.data.random_split(data, [2, 2])
        first.dataset.tensors[0] + c  # fault
        first[0][0] + v
        both = torch.utils.data.ConcatDataset([data, data])
        both[0][0] + w  # fault
        DataLoader(data, batch_size=2).dataset.tensors[0] + c  # fault
        DataLoader(TensorDataset(c), batch_size=2).dataset[0][0] + v  # fault
        torch.utils.data.StackDataset(c, i)[0][0] + v  # fault
        torch.utils.data.StackDataset(image=c)[0]["image"] + v  # fault
        torch.utils.data.StackDataset(image=t)[0]["image"] + v
    """,
    "optimizers call closures": """
        layer = nn.Linear(4, 4).cuda()
        optimizer = torch.optim.LBFGS(layer.parameters())
        def closure():
            loss = layer(t).sum()
            loss.backward()
            return loss
        optimizer.step(closure) + w  # fault
        optimizer.step(closure) + v
        state = torch.optim.Adam(layer.parameters())
        layer(t).sum().backward()
        state.step()
        state.state_dict()["state"][0]["exp_avg"] + c  # fault
        state.state_dict()["state"][0]["exp_avg"] + t
        scaler = torch.amp.GradScaler("cuda", enabled=False)
        scaler.scale(t.sum()) + w  # fault
        scaler.scale(t.sum()) + n
    """,
    "functions of functions": """
        torch.func.functionalize(lambda a: a * 2)(t) + c  # fault
        torch.vmap(torch.sum)(c) + v  # fault
        torch.vmap(torch.sum)(t) + v
        states, _ = torch.func.stack_module_state([nn.Linear(4, 4).cuda()])
        states["weight"] + c  # fault
        torch.autograd.functional.vjp(lambda a: a * 2, t, t)[1] + c  # fault
        torch.autograd.functional.hvp(lambda a: a.sum(), v, v)[1] + v
        torch.jit.fork(torch.add, c, c).wait() + t  # fault
        torch.jit.wait(torch.jit.fork(torch.add, t, t)) + t
        torch.jit.annotate(torch.Tensor, c) + t  # fault
    """,
    "distributions and transforms": """
        D = torch.distributions
        D.transforms.TanhTransform()(c) + t  # fault
        D.transforms.SigmoidTransform().inv(t * 0.5) + t
        D.transforms.AffineTransform(w, 2.0)(t)  # fault
        D.transforms.AffineTransform(n, 2.0)(t)
        D.biject_to(D.constraints.positive)(c) + t  # fault
        D.transforms.ExpTransform().log_abs_det_jacobian(c, c) + t  # fault
        D.Normal(t, 1.0).expand((4, 4)).sample() + c  # fault
        D.Beta(w, w).concentration1 + v  # fault
        D.Independent(D.Normal(t, t), 1).base_dist.loc + c  # fault
        D.MultivariateNormal(w, torch.eye(4)).scale_tril + t  # fault
        D.Categorical(logits=w).sample() + t
        D.Categorical(logits=c).sample() + v  # fault
        D.Categorical(logits=w).entropy() + t
        D.MultivariateNormal(w, torch.eye(4)).log_prob(w) + t
        D.Normal(w, w).log_prob(w) + v  # fault
        D.kl_divergence(D.Categorical(logits=w), D.Categorical(logits=w)) + t
    """,
    "low rank, masked, sparse, states": """
        torch.svd_lowrank(t, 2)[0] + c[:, :2]  # fault
        torch.masked.sum(t, 1, mask=t > 0) + w  # fault
        torch.masked.sum(t, mask=c > 0)  # fault
        torch.masked.sum(t.sum(), mask=n > 0)
        torch.linalg.pinv(t, rtol=n)
        torch.masked.softmax(t, 1, mask=t > 0) + t
        torch.unravel_index(i, (4, 4))[0] + torch.ones(4)  # fault
        torch.sparse.sampled_addmm(t.to_sparse_csr(), t, c)  # fault
        torch.random.get_rng_state() + torch.ones(1, device="cuda")  # fault
        torch.Generator("cuda").get_state() + torch.ones(1, device="cuda")  # fault
        torch.manual_seed(0).get_state() + torch.ones(1)
        torch.ao.quantization.QuantStub()(t) + c  # fault
    """,
    "containers of Python's library": """
        UserDict({"a": c})["a"] + t  # fault
        UserDict(a=t).data["a"] + t
        import math, random
        math.prod([c, c]) + t  # fault
        pow(c, 2) + t  # fault
        random.Random(0).choice([c]) + t  # fault
        random.Random(0).choice([t]) + t
        from concurrent.futures import ThreadPoolExecutor, wait
        done, _ = wait([ThreadPoolExecutor(1).submit(torch.add, c, c)])
        done.pop().result() + t  # fault
    """,
    "numbers of NumPy make tensors without a dimension": """
        torch.tensor(np.mean([1.0, 2.0])) * t
        torch.tensor(np.random.rand()) * t
        torch.tensor(np.random.rand(4)) * t  # fault
        torch.tensor(np.array([1.0, 2.0]).mean()) * t
        torch.tensor(np.ones(4)[0]) * t
        torch.tensor(np.ones(4)[:4]) * t  # fault
        torch.as_tensor(np.max([1, 2])) * t
        torch.from_numpy(np.array(2.0)) * t
        torch.from_numpy(np.ones(4)) * t  # fault
        torch.from_numpy(np.arange(4.0)) * t  # fault
        torch.tensor(np.random.normal(size=4)) * t  # fault
        torch.tensor(np.exp(np.ones(4))) * t  # fault
        torch.stack([torch.tensor(x) for x in np.ones(4)]) * t  # fault
    """,
    "an array and a tensor on a GPU": """
        t * np.ones(4)  # fault
        c * np.ones(4)
        t + np.array([1.0, 2.0, 3.0, 4.0])  # fault
        t == np.ones(4)  # fault
        t * np.float32(2)
        t * np.mean([1.0, 2.0])
        t * np.ones(4)[0]
        t * np.random.rand()
        t * np.random.randn(4)  # fault
        t @ np.ones((4, 4))  # fault
        t[np.array([0, 1])]
        np.ones(4)[i]  # fault
        np.ones(4)[i[0]]
        np.ones(4)[i.cpu()]
        np.eye(4)[i]  # fault
        np.ones(4).dot(v)  # fault
        rows = np.ones((4, 4))
        rows[0] = v  # fault
        rows[0] = w
        rows[0, 0] = v[0]
        rows[0, 0] = t.sum()
        rows[i] = 0  # fault
    """,
    "what NumPy leaves to the tensor": """
        np.squeeze(t)
        np.split(t, 2)
        np.nonzero(t)
        np.fromiter(v, float)
        np.array_equal(t, t)
        np.tile(t, 2)  # fault
        np.argsort(v)  # fault
        np.linalg.norm(t)  # fault
    """,
    "layers that hold nothing": """
        nn.LayerNorm(4, elementwise_affine=False).cuda()(c) + w
        nn.LayerNorm(4).cuda()(c)  # fault
        nn.LayerNorm(4, 1e-5, False).cuda()(c)
        nn.InstanceNorm1d(4).cuda()(c)
        nn.InstanceNorm1d(4, affine=True).cuda()(c)  # fault
        nn.InstanceNorm1d(4, track_running_stats=True).cuda()(c[None])  # fault
        nn.GroupNorm(2, 4, affine=False)(t) + v
        nn.GroupNorm(2, 4)(t)  # fault
        nn.BatchNorm1d(4, affine=False)(t)  # fault
        nn.BatchNorm1d(4, affine=False, track_running_stats=False)(t) + v
        state, cell = nn.LSTMCell(4, 4).cuda()(t)
        cell + c  # fault
        state + t
    """,
    "containers of parameters make parameters": """
        class Scaled(nn.Module):
            def __init__(self):
                super().__init__()
                self.named = nn.ParameterDict({"a": torch.zeros(4)})
                self.named["b"] = torch.zeros(4)
                self.listed = nn.ParameterList([torch.zeros(4)])
                self.listed.append(torch.zeros(4))
                self.listed.extend([torch.zeros(4)])
                self.plain = torch.zeros(4)
            def forward(self, x):
                x = x + self.named["a"] + self.named["b"]
                for one in self.listed:
                    x = x + one
                return x
        Scaled().cuda()(t)
        held = nn.ParameterList([torch.zeros(4)])
        held[0] + v  # fault
    """,
    "lists of modules": """
        layers = nn.ModuleList()
        layers.extend([nn.Linear(4, 4)])
        layers += [nn.Linear(4, 4)]
        layers.insert(0, nn.Linear(4, 4))
        layers[0](t)  # fault
        layers[2](c)
        layers.cuda()
        layers[1](t)
        layers[-1](c)  # fault
    """,
    "columns of rows": """
        rows = [(c, 1), (c, 2)]
        values, numbers = map(list, zip(*rows))
        values[0] + t  # fault
        torch.stack(values) + t  # fault
        numbers[0] + t
        torch.tensor(c.tolist()) + t  # fault
        torch.tensor(n.tolist()) + t
    """,
    "comparisons of tests": """
        torch.testing.assert_close(t, c)  # fault
        torch.testing.assert_close(t, c, check_device=False)
        torch.testing.assert_close(t.cpu(), c)
        torch.testing.assert_allclose(t, c)  # fault
        torch.testing.assert_close(t.sum(), torch.tensor(16.0))  # fault
        torch.testing.assert_close(t.sum().item(), 16.0)
    """,
    "other names and small helpers": """
        F.threshold(c, 0.1, 0.2) + t  # fault
        nn.init.xavier_uniform_(c) + t  # fault
        torch.distributions.utils.broadcast_all(t, w)[0] + c  # fault
        torch.distributions.utils.broadcast_all(t, w)[0] + t
        torch.distributions.utils.logits_to_probs(c) + t  # fault
        torch.masked.masked_tensor(t, t > 0).get_data() + c  # fault
        nn.utils.parametrize.register_parametrization(nn.Linear(4, 4).cuda(), "weight", nn.Identity())(c)  # fault
        (c if t.is_cpu else t) + t
        (c if not t.is_cpu else t) + t  # fault
    """,
    "a number of a function's caller leaves the result where the other one is": """
        def scaled(x, s):
            return x / s.sqrt()
        def added(x, s):
            return torch.add(x, s.sqrt())
        layer = nn.Linear(4, 4).cuda()
        layer(scaled(t, n))
        layer(added(t, n))
        layer(scaled(c, n))  # fault
        layer(added(c, n))  # fault
        scaled(t, w.sum()) + t
    """,
    "causal masks are not read": """
        causal = nn.Transformer.generate_square_subsequent_mask(4)
        encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 1, 4), 1).cuda()
        encoder(t[:, None], mask=causal)
        encoder(t[:, None], causal)
        encoder(t[:, None], causal, torch.zeros(1, 4, device="cuda"))  # fault
        encoder(c[:, None], causal)  # fault
        decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 1, 4), 1).cuda()
        decoder(t[:, None], t[:, None], tgt_mask=causal)
        decoder(t[:, None], c[:, None])  # fault
        decoder(t[:, None], t[:, None], memory_mask=c)  # fault
        nn.TransformerEncoderLayer(4, 1, 4).cuda()(t[:, None], src_mask=causal)  # fault
        nn.MultiheadAttention(4, 1).cuda()(t, t, t, attn_mask=causal)  # fault
        nn.Transformer(4, 1, 1, 1, 4).cuda()(t[:, None], t[:, None], causal, causal)
    """,
    "names of the modules that define them": """
        from torch.autograd.function import Function
        from torch.autograd.variable import Variable
        from torch.functional import einsum
        from torch.nn.modules.batchnorm import BatchNorm1d
        from torch.nn.modules.container import Sequential
        from torch.nn.modules.linear import Linear
        from torch.nn.modules.loss import MSELoss
        from torch.nn.modules.module import Module
        from torch.nn.parameter import Parameter
        from torch.nn.utils.convert_parameters import parameters_to_vector
        from torch.utils.data._utils.collate import default_collate
        from torch.utils.data.dataset import Subset
        Linear(4, 4).cuda()(c)  # fault
        Sequential(Linear(4, 4), BatchNorm1d(4)).cuda()(c)  # fault
        Sequential(Linear(4, 4), BatchNorm1d(4)).cuda()(t)
        MSELoss()(t, c)  # fault
        einsum("ij->i", c) + v  # fault
        Variable(c) + t  # fault
        class Doubled(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2
        Doubled.apply(c) + t  # fault
        class Scaled(Module):
            def __init__(self):
                super().__init__()
                self.scale = Parameter(torch.ones(4))
            def forward(self, x):
                return x * self.scale  # fault
        Scaled().cuda()(c)
        Scaled().cuda()(t)
        parameters_to_vector(Linear(1, 1).cuda().parameters()) + torch.ones(2)  # fault
        default_collate([w, w]) + v  # fault
        Subset(TensorDataset(c), [0])[0][0] + v  # fault
    """,
}


def _all_cases() -> dict[str, str]:
    """Those above, and those of library_calls.txt, each under `==== name`."""
    written = (Path(__file__).parent / "library_calls.txt").read_text(encoding="utf-8")
    chapters = (chapter.partition("\n") for chapter in written.split("==== ")[1:])
    return {name: textwrap.dedent(lines) for name, lines in CASES.items()} | {
        name: lines for name, _, lines in chapters
    }


@pytest.mark.parametrize("lines", _all_cases().values(), ids=_all_cases())
def test_what_is_found(lines: str) -> None:
    text = IMPORTS + lines
    program = from_ast.lower(ast.parse(text))
    expected = [row for row, line in enumerate(text.splitlines(), start=1) if "# fault" in line]
    found = sorted(
        {fault.site.op.node.lineno for fault in analysis.analyse(program).decided() if fault.site.op.node is not None}
    )
    assert found == expected


@pytest.mark.parametrize(
    "given",
    [
        "",
        "*c",
        "**named",
        "*c, **named",
        "c",
        "c, key=c",
        "key=c",
        "[c], c",
        "c, *c",
        "c, self=c, function=c, value=c, name=c",
    ],
)
def test_no_arguments_end_the_check(given: str) -> None:
    homes = sorted({name.partition(".")[0] for name in library.names()} - {"builtins"})
    names = [*sorted(library.names()), "torch._foreach_add", "torch._foreach_addcmul_"]
    calls = [f"named = {name.removesuffix('.call')}({given})" for name in names]
    text = "\n".join([IMPORTS, *(f"import {home}" for home in homes), *calls])
    analysis.analyse(from_ast.lower(ast.parse(text)))
