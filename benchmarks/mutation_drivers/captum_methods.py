"""captum: the attribution, influence and robustness methods on small models."""

import torch
from harness import devices, part, stub

PROJECT = "pytorch+captum"
PATHS = ["."]
PRELOAD = ["numpy", "tqdm", "matplotlib", "sklearn.linear_model"]


class _Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.relu, self.second = torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2)

    def forward(self, x):
        return self.second(self.relu(self.first(x)))


def _attribute(name, **options):
    import captum.attr

    net = _Net().to("cuda").eval()
    x = torch.rand(3, 4, device="cuda")
    made = getattr(captum.attr, name)(net)
    return devices(made.attribute(x, target=1, **options))


@part
def gradients():
    x = torch.rand(2, 4, device="cuda")
    found = (
        _attribute("Saliency")
        + _attribute("InputXGradient")
        + _attribute("GuidedBackprop")
        + _attribute("Deconvolution")
    )
    found += _attribute("IntegratedGradients", n_steps=3, method="riemann_trapezoid") + _attribute(
        "IntegratedGradients", n_steps=4, internal_batch_size=2
    )
    found += (
        _attribute("DeepLift")
        + _attribute("DeepLiftShap", baselines=x)
        + _attribute("GradientShap", baselines=x, n_samples=2)
    )
    return found + _attribute("LRP")


@part
def perturbations():
    groups = torch.tensor([[0, 0, 1, 2]], device="cuda")
    found = _attribute("FeatureAblation", feature_mask=groups, perturbations_per_eval=2) + _attribute(
        "FeaturePermutation"
    )
    found += _attribute("Occlusion", sliding_window_shapes=(2,), perturbations_per_eval=2) + _attribute(
        "ShapleyValueSampling", n_samples=2, perturbations_per_eval=2
    )
    found += _attribute("ShapleyValues", feature_mask=groups, perturbations_per_eval=2)
    return found


@part
def surrogates():
    groups = torch.tensor([[0, 0, 1, 2]], device="cuda")
    found = _attribute("Lime", feature_mask=groups, n_samples=6, perturbations_per_eval=2, return_input_shape=True)
    return found + _attribute("KernelShap", feature_mask=groups, n_samples=6, perturbations_per_eval=3)


@part
def noise():
    from captum.attr import IntegratedGradients, NoiseTunnel

    net = _Net().to("cuda")
    tunnel = NoiseTunnel(IntegratedGradients(net))
    return devices(
        *(
            tunnel.attribute(torch.rand(3, 4, device="cuda"), nt_type=kind, nt_samples=3, target=1, n_steps=3)
            for kind in ("smoothgrad", "smoothgrad_sq", "vargrad")
        )
    )


@part
def layers():
    from captum import attr

    net = _Net().to("cuda")
    x = torch.rand(3, 4, device="cuda")
    found = []
    for name in (
        "LayerConductance",
        "InternalInfluence",
        "LayerActivation",
        "LayerGradientXActivation",
        "LayerIntegratedGradients",
        "LayerDeepLift",
    ):
        method = getattr(attr, name)(net, net.first)
        found += devices(method.attribute(x) if name == "LayerActivation" else method.attribute(x, target=1))
    found += devices(
        attr.LayerGradientShap(net, net.first).attribute(
            x, baselines=torch.rand(3, 4, device="cuda"), target=1, n_samples=2
        )
    )
    for name in ("NeuronConductance", "NeuronGradient", "NeuronIntegratedGradients"):
        method = getattr(attr, name)(net, net.first)
        found += devices(method.attribute(x, 1, target=1) if name == "NeuronConductance" else method.attribute(x, 1))
    return found + devices(attr.LayerFeatureAblation(net, net.first).attribute(x, target=1))


@part
def linear_models():
    from captum._utils.models.linear_model import SGDLasso, SGDLinearModel, SGDRidge, SkLearnLasso

    rows = torch.rand(12, 4, device="cuda")
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(rows, rows.sum(1)), batch_size=4)
    for kind in (SGDLinearModel, SGDLasso, SGDRidge):
        model = kind()
        model.fit(data, max_epoch=2)
    SkLearnLasso(alpha=0.01).fit(data)
    model = SGDLinearModel()
    weighted = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(rows, rows.sum(1), torch.ones(12, device="cuda")), batch_size=4
    )
    model.fit(weighted, max_epoch=2, initial_lr=0.1, running_loss_window=1, reduce_lr=True)


class _Index:
    def __init__(self, *arguments):
        self.rows = 0

    def add_item(self, index, row):
        list(row)

    def build(self, trees):
        pass

    def get_nns_by_vector(self, row, count, **options):
        return list(range(count)), [0.0] * count


@part
def influence():
    from captum.influence import TracInCP, TracInCPFast, TracInCPFastRandProj

    net = _Net().to("cuda")
    rows, labels = torch.rand(6, 4, device="cuda"), torch.randint(0, 2, (6,), device="cuda")
    data = torch.utils.data.TensorDataset(rows, labels)
    torch.save(net.state_dict(), "checkpoint.pt")

    def load(model, path):
        model.load_state_dict(torch.load(path, map_location="cuda"))
        return 1.0

    stub("annoy", AnnoyIndex=_Index)
    for kind in (TracInCP, TracInCPFast, TracInCPFastRandProj):
        layer = {"sample_wise_grads_per_batch": True} if kind is TracInCP else {"final_fc_layer": "second"}
        options = {
            "checkpoints": ["checkpoint.pt"],
            "checkpoints_load_func": load,
            "loss_fn": torch.nn.CrossEntropyLoss(reduction="sum"),
            "batch_size": 3,
        }
        method = kind(net, train_dataset=data, **options, **layer)
        method.influence((rows[:2], labels[:2]))
        if kind is not TracInCPFastRandProj:
            method.influence((rows[:2], labels[:2]), k=2)
        if kind is not TracInCPFastRandProj:
            method.self_influence()


@part
def arnoldi():
    from captum.influence._core.arnoldi_influence_function import ArnoldiInfluenceFunction
    from captum.influence._core.influence_function import NaiveInfluenceFunction

    net = _Net().to("cuda")
    rows, labels = torch.rand(6, 4, device="cuda"), torch.rand(6, 2, device="cuda")
    data = torch.utils.data.TensorDataset(rows, labels)
    torch.save(net.state_dict(), "checkpoint.pt")

    def load(model, path):
        model.load_state_dict(torch.load(path, map_location="cuda"))
        return 1.0

    for kind, options in (
        (ArnoldiInfluenceFunction, {"arnoldi_dim": 5, "projection_dim": 2}),
        (NaiveInfluenceFunction, {"projection_dim": 2}),
    ):
        options = {**options, "batch_size": 3, "show_progress": False, "loss_fn": torch.nn.MSELoss(reduction="none")}
        method = kind(net, data, checkpoint="checkpoint.pt", checkpoints_load_func=load, **options)
        method.influence((rows[:2], labels[:2]))


@part
def gates():
    from captum.module import BinaryConcreteStochasticGates, GaussianStochasticGates

    for kind in (BinaryConcreteStochasticGates, GaussianStochasticGates):
        gate = kind(n_gates=3, mask=torch.tensor([0, 0, 1, 2])).to("cuda")
        out, penalty = gate(torch.rand(5, 4, device="cuda"))
        (out.sum() + penalty).backward()
        gate.get_gate_values()
        gate.get_gate_active_probs()


@part
def quality():
    from captum.attr import Saliency
    from captum.metrics import infidelity, sensitivity_max

    net = _Net().to("cuda")
    x = torch.rand(3, 4, device="cuda")
    saliency = Saliency(net)
    sensitivity_max(saliency.attribute, x, target=1, n_perturb_samples=3)

    def perturb(inputs):
        noise = torch.randn_like(inputs) * 0.1
        return noise, inputs - noise

    infidelity(net, perturb, x, saliency.attribute(x, target=1), target=1, n_perturb_samples=3)


@part
def attacks():
    from captum.robust import FGSM, PGD

    net = _Net().to("cuda")
    x = torch.rand(3, 4, device="cuda")
    FGSM(net).perturb(x, epsilon=0.1, target=1)
    PGD(net).perturb(x, radius=0.1, step_size=0.05, step_num=2, target=1)


@part
def summaries():
    from captum.attr._utils.stat import MSE, Max, Mean, Min, StdDev, Sum, Var
    from captum.attr._utils.summarizer import Summarizer

    summary = Summarizer([Mean(), Var(), StdDev(), Min(), Max(), Sum(), MSE()])
    for _ in range(3):
        summary.update(torch.rand(4, device="cuda"))
    assert summary.summary
