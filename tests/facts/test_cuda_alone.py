"""Where code has no other place to run than CUDA, that it needs CUDA is a note; everywhere else it is a warning."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchdevlint import check_paths, check_source
from torchdevlint.findings import Severity
from torchdevlint.stubs.knowledge.platforms import is_extension

NOTES = {
    "a library for CUDA alone": (
        "TDL801",
        """
        from mamba_ssm.models.mixer_seq_simple import MambaLMHeadModel
        ids = torch.randint(1, 1000, (2, 100)).to("cuda")
        """,
    ),
    "a renderer for CUDA alone": (
        "TDL605",
        """
        import nvdiffrast.torch as dr
        class Mesh(torch.nn.Module):
            def forward(self, x):
                return x + torch.zeros(3, device="cuda")
        """,
    ),
    "a rasterizer for CUDA alone": (
        "TDL801",
        """
        from diff_gaussian_rasterization import GaussianRasterizer
        points = torch.zeros(3, 3).cuda()
        """,
    ),
    "a model in four bits": (
        "TDL801",
        """
        model = AutoModel.from_pretrained("m", load_in_4bit=True)
        def evaluate(ids):
            return model(ids.to("cuda"))
        """,
    ),
    "behind a library's start of CUDA": (
        "TDL801",
        """
        from fairseq import utils
        env = utils.CudaEnvironment()
        model = Net().cuda()
        """,
    ),
    "a compiled extension": (
        "TDL801",
        """
        from . import correlation_cuda
        def correlate(a, b):
            return correlation_cuda.forward(a.cuda(), b.cuda())
        """,
    ),
    "an extension that a loader gives": (
        "TDL801",
        """
        from .utils import ext_loader
        ext_module = ext_loader.load_ext("_ext", ["nms"])
        def nms(boxes, keep):
            count = ext_module.nms(boxes, keep)
            return boxes[keep[:count].cuda()]
        """,
    ),
    "the frame of a kernel": (
        "TDL801",
        """
        try:
            import _march as _backend
        except ImportError:
            from .backend import _backend
        class _March(torch.autograd.Function):
            @staticmethod
            def forward(ctx, rays):
                rays = rays.cuda()
                return _backend.march(rays)
        """,
    ),
    "the frame of a kernel for CUDA's autocast": (
        "TDL801",
        """
        from torch.cuda.amp import custom_fwd
        class _March(torch.autograd.Function):
            @staticmethod
            @custom_fwd(cast_inputs=torch.float32)
            def forward(ctx, rays):
                return get_backend().march(rays.cuda())
        """,
    ),
    "a collective of the project": (
        "TDL801",
        """
        import project.dist_adapter as dist
        def mean(x):
            x = torch.tensor(x).float().cuda()
            dist.all_reduce(x)
            return x.item()
        """,
    ),
    "a function that starts NCCL": (
        "TDL102",
        """
        def worker(path):
            torch.distributed.init_process_group(backend="nccl")
            return torch.load(path, map_location="cuda")
        """,
    ),
    "a function that a worker of NCCL calls": (
        "TDL102",
        """
        def read(path):
            return torch.load(path, map_location="cuda")
        def worker(path):
            torch.distributed.init_process_group(backend="nccl")
            return read(path)
        """,
    ),
    "the GPU of the rank": (
        "TDL807",
        """
        print(torch.cuda.is_available())
        def loop(rank, net):
            device = torch.device("cuda", rank)
            net.to(device)
            start = torch.cuda.Event(enable_timing=True)
        """,
    ),
    "the device of DistributedDataParallel": (
        "TDL807",
        """
        from torch.nn.parallel import DistributedDataParallel
        class Model:
            def wrap(self, net):
                net = net.to(self.device)
                return DistributedDataParallel(net, device_ids=[torch.cuda.current_device()])
        """,
    ),
    "a hook that offloads": (
        "TDL807",
        """
        class Pipe:
            def free(self, image, device):
                if hasattr(self, "final_offload_hook") and self.final_offload_hook is not None:
                    torch.cuda.ipc_collect()
                return image.to(device)
        """,
    ),
    "an extension of apex": (
        "TDL511",
        """
        class Scaler:
            def __init__(self):
                self.overflow = torch.cuda.IntTensor([0])
                import amp_C
        """,
    ),
    "a type of CUDA beside apex": (
        "TDL511",
        """
        from apex import amp
        torch.set_default_tensor_type(torch.cuda.FloatTensor)
        """,
    ),
    "the default of a helper of tests": (
        "TDL801",
        """
        import pytest
        def make(batch: int = 1, device: str = "cuda"):
            return torch.zeros(batch, device=device)
        def test_it():
            assert make() is not None
        """,
    ),
}

WARNINGS = {
    "each process loads onto the GPU that saved": (
        "TDL101",
        """
        import flash_attn
        def resume(args, model, optimizer):
            torch.distributed.init_process_group("nccl", rank=args.rank)
            checkpoint = torch.load(args.resume)
            model.load_state_dict(checkpoint["model"])
            optimizer.load_state_dict(checkpoint["optimizer"])
        """,
    ),
    "a training script": (
        "TDL801",
        """
        def main(args):
            model = Net()
            model.cuda()
            model.train()
        """,
    ),
    "a library that is tried": (
        "TDL801",
        """
        try:
            import mamba_ssm
        except ImportError:
            mamba_ssm = None
        def main():
            model = Net()
            model.cuda()
        """,
    ),
    "a model in eight bits in another function": (
        "TDL801",
        """
        def quantized():
            return AutoModel.from_pretrained("m", load_in_8bit=True)
        def evaluate(model, ids):
            return model(ids.to("cuda"))
        """,
    ),
    "before a library's start of CUDA": (
        "TDL801",
        """
        from fairseq import utils
        model = Net().cuda()
        env = utils.CudaEnvironment()
        """,
    ),
    "a helper that is called to_cuda": (
        "TDL801",
        """
        from .utils import batch_to_cuda
        def step(model, batch):
            batch = batch_to_cuda(batch)
            return model(batch, torch.zeros(3).cuda())
        """,
    ),
    "a Function of PyTorch's operators": (
        "TDL801",
        """
        class Round(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return torch.round(x + torch.zeros(3).cuda())
        """,
    ),
    "a worker that names the GPU of its rank": (
        "TDL801",
        """
        def read(path, rank, net):
            device = torch.device(f"cuda:{rank}")
            return net(load(path).to(device))
        print(torch.cuda.is_available())
        """,
    ),
    "a GPU by its index": (
        "TDL807",
        """
        print(torch.cuda.is_available())
        def loop(index, net, device):
            net.to(device)
            start = torch.cuda.Event(enable_timing=True)
        """,
    ),
}

DEMANDS = """
import torch
if torch.cuda.device_count() < 2:
    quit("two GPUs")
data = load().to("cuda:0")
"""


def severities(code: str, text: str) -> set[Severity]:
    findings = check_source("import torch\n" + textwrap.dedent(text), level="info", select=[code])
    return {finding.severity for finding in findings}


@pytest.mark.parametrize(("code", "text"), NOTES.values(), ids=NOTES)
def test_what_needs_cuda_anyway_is_a_note(code: str, text: str) -> None:
    assert severities(code, text) == {Severity.INFO}


@pytest.mark.parametrize(("code", "text"), WARNINGS.values(), ids=WARNINGS)
def test_what_could_run_elsewhere_is_a_warning(code: str, text: str) -> None:
    assert severities(code, text) == {Severity.WARNING}


@pytest.mark.parametrize(("test", "found"), [("< 2", 0), ("== 0", 0), ("> 2", 1)])
def test_a_script_that_stops_without_gpus_demands_them(test: str, found: int) -> None:
    assert len(check_source(DEMANDS.replace("< 2", test), select=["TDL801"])) == found


def test_a_module_that_stops_without_any_of_several_accelerators_demands_one() -> None:
    text = """
        import torch
        class Quantizer:
            def validate(self):
                if not (torch.cuda.is_available() or torch.xpu.is_available()):
                    raise RuntimeError("no accelerator")
            def place(self, device):
                return torch.cuda.current_device()
        """
    (finding,) = check_source(textwrap.dedent(text), level="info", select=["TDL807"])
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize(("used", "found"), [("run(Runner)", 0), ("Runner()", 1)])
def test_a_class_that_is_handed_on_is_called_out_of_sight(used: str, found: int) -> None:
    text = f"""
        import torch
        class Runner:
            def __init__(self, device="cuda"):
                self.x = torch.zeros(3, device=device)
        def main():
            {used}
        if __name__ == "__main__":
            main()
        """
    assert len(check_source(textwrap.dedent(text), select=["TDL801"])) == found


@pytest.mark.parametrize(("test", "found"), [("is_mps_available()", 0), ("is_wandb_available()", 1)])
def test_a_test_of_the_project_for_an_accelerator_is_one(test: str, found: int) -> None:
    name = test.removesuffix("()")
    text = f"""
        import torch
        from .utils import {name}
        def choose():
            if {test}:
                return torch.device("mps")
            return torch.device("cpu")
        """
    assert len(check_source(textwrap.dedent(text), select=["TDL801"])) == found


@pytest.mark.parametrize(("name", "found"), [("cuda", 0), ("place", 1)])
def test_an_own_method_cuda_is_asked_for(name: str, found: int) -> None:
    text = f"""
        import torch
        class Rotation:
            def {name}(self):
                return Rotation(self.matrices.cuda())
        """
    assert len(check_source(textwrap.dedent(text), select=["TDL801"])) == found


@pytest.mark.parametrize("stops", [True, False])
def test_an_import_whose_failure_is_raised_again_is_required(stops: bool) -> None:
    handler = 'raise ImportError("install apex")' if stops else "amp = None"
    text = f"import torch\ntry:\n    from apex import amp\nexcept ImportError:\n    {handler}\nmodel = make().cuda()\n"
    assert [finding.code for finding in check_source(text)] == ([] if stops else ["TDL801"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("correlation_cuda", True),
        ("ops.bias_act_cuda.forward", True),
        ("amp_C", True),
        ("fused_layer_norm_cuda_ext", True),
        ("utils.to_cuda", False),
        ("self.temporary_cuda", False),
        ("requires_cuda", False),
        ("cuda", False),
        ("_cuda", False),
    ],
)
def test_names_of_extensions(name: str, expected: bool) -> None:
    assert is_extension(name) is expected


SETUP = """
from setuptools import Extension, setup
setup(name="ops", ext_modules=[{extension}])
"""
BUILT = {
    "an extension for CUDA": ('CUDAExtension("ops.kernels", ["kernels.cpp", "kernels.cu"])', "from ops import kernels", False),
    "one that is imported by its folder": ('CUDAExtension(name="kernels", sources=["k.cu"])', "from ops.wrap import f", False),
    "one of a compiler of one's own": ("Extension('kernels', ['kernels.pyx', 'k.cu'])", "from ops.wrap import f", False),
    "one for the CPU": ('Extension("kernels", ["kernels.pyx"])', "from ops.wrap import f", True),
    "one with a build for the CPU": ('CUDAExtension("kernels", ["k.cu"]), CppExtension("kernels", [])', "from ops.wrap import f", True),
    "one that nobody imports": ('CUDAExtension("ops.kernels", ["kernels.cu"])', "import math", True),
    "one that is tried": (
        'CUDAExtension("ops.kernels", ["kernels.cu"])',
        "try:\n    from ops import kernels\nexcept ImportError:\n    kernels = None",
        True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BUILT)
def test_a_program_that_needs_an_extension_of_the_project(case: str, tmp_path: Path) -> None:
    extension, imports, runs_elsewhere = BUILT[case]
    (tmp_path / ".git").mkdir()
    (tmp_path / "lib" / "ops").mkdir(parents=True)
    (tmp_path / "lib" / "ops" / "setup.py").write_text(SETUP.format(extension=extension))
    (tmp_path / "lib" / "ops" / "__init__.py").write_text("")
    (tmp_path / "lib" / "ops" / "wrap.py").write_text("from .kernels import f\n")
    (tmp_path / "options.py").write_text("parser.add_argument('--device')\n")
    (tmp_path / "run.py").write_text(f"import torch\n{imports}\nmodel = torch.nn.Linear(2, 2).cuda()\n")
    (told,) = check_paths([tmp_path / "run.py"], isolated=True, select=["TDL801"])
    assert told.severity is (Severity.WARNING if runs_elsewhere else Severity.INFO)
