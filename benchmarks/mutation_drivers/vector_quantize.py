"""vector-quantize-pytorch: each quantizer trained for a few steps and evaluated, in the variants of its README."""

from harness import devices, part

PROJECT = "lucidrains+vector-quantize-pytorch"
PATHS = ["."]
PRELOAD = ["einops", "einx", "numpy"]


def _use(quantizer, *shape, **arguments):
    import torch

    quantizer = quantizer.to("cuda")
    x = torch.randn(*shape, device="cuda", requires_grad=True)
    for _ in range(2):
        out = quantizer(x, **arguments)
        flat = [
            o for o in (out if isinstance(out, tuple) else (out,)) if isinstance(o, torch.Tensor) and o.requires_grad
        ]
        if flat:
            sum(o.sum() for o in flat).backward()
    quantizer.eval()
    out = quantizer(x, **arguments)
    return devices(quantizer, *[o for o in (out if isinstance(out, tuple) else (out,)) if isinstance(o, torch.Tensor)])


@part
def euclidean():
    from vector_quantize_pytorch import VectorQuantize

    return _use(VectorQuantize(dim=8, codebook_size=16, decay=0.8, threshold_ema_dead_code=2), 2, 12, 8)


@part
def cosine():
    from vector_quantize_pytorch import VectorQuantize

    return _use(
        VectorQuantize(
            dim=8, codebook_size=16, use_cosine_sim=True, kmeans_init=True, codebook_dim=4, threshold_ema_dead_code=2
        ),
        2,
        12,
        8,
    )


@part
def masked():
    import torch
    from vector_quantize_pytorch import VectorQuantize

    mask = torch.arange(12, device="cuda")[None].expand(2, -1) < 7
    found = _use(
        VectorQuantize(dim=8, codebook_size=16, commitment_weight=1.0, return_zeros_for_masked_padding=False),
        2,
        12,
        8,
        mask=mask,
    )
    lens = torch.tensor([4, 12], device="cuda")
    return found + _use(VectorQuantize(dim=8, codebook_size=16, kmeans_init=True), 2, 12, 8, lens=lens)


@part
def learnable():
    from vector_quantize_pytorch import VectorQuantize

    quantizer = VectorQuantize(
        dim=8,
        codebook_size=16,
        learnable_codebook=True,
        ema_update=False,
        orthogonal_reg_weight=10,
        orthogonal_reg_max_codes=4,
        heads=2,
        separate_codebook_per_head=True,
    )
    return _use(quantizer, 2, 12, 8)


@part
def stochastic():
    from vector_quantize_pytorch import VectorQuantize

    quantizer = VectorQuantize(
        dim=8,
        codebook_size=16,
        stochastic_sample_codes=True,
        sample_codebook_temp=0.5,
        straight_through=True,
        rotation_trick=False,
        codebook_diversity_loss_weight=1.0,
        affine_param=True,
        sync_affine_param=False,
        ema_update=False,
        learnable_codebook=True,
    )
    return _use(quantizer, 2, 12, 8)


@part
def residual():
    from vector_quantize_pytorch import GroupedResidualVQ, ResidualVQ

    found = _use(
        ResidualVQ(
            dim=8,
            num_quantizers=3,
            codebook_size=16,
            quantize_dropout=True,
            stochastic_sample_codes=True,
            shared_codebook=True,
            kmeans_init=True,
        ),
        2,
        12,
        8,
    )
    return found + _use(GroupedResidualVQ(dim=8, num_quantizers=2, groups=2, codebook_size=16), 2, 12, 8)


@part
def implicit():
    import torch
    from vector_quantize_pytorch import ResidualVQ

    quantizer = ResidualVQ(dim=8, codebook_size=16, num_quantizers=3, implicit_neural_codebook=True).to("cuda")
    out = quantizer(torch.randn(2, 12, 8, device="cuda"))
    return devices(quantizer, out[0], quantizer.get_output_from_indices(out[1]))


@part
def random_projection():
    from vector_quantize_pytorch import RandomProjectionQuantizer

    return _use(RandomProjectionQuantizer(dim=8, num_codebooks=2, codebook_dim=4, codebook_size=16), 2, 12, 8)


@part
def finite_scalar():
    import torch
    from vector_quantize_pytorch import FSQ, GroupedResidualFSQ, ResidualFSQ

    found = _use(FSQ([4, 3, 5], dim=8, num_codebooks=2), 2, 12, 8)
    found += _use(FSQ([4, 3], preserve_symmetry=True, noise_dropout=0.5), 2, 12, 2)
    found += _use(ResidualFSQ(dim=8, levels=[4, 3], num_quantizers=3, quantize_dropout=True), 2, 12, 8)
    found += _use(GroupedResidualFSQ(dim=8, levels=[4, 3], num_quantizers=2, groups=2), 2, 12, 8)
    quantizer = FSQ([4, 3, 5], dim=8).to("cuda")
    _, indices = quantizer(torch.randn(2, 12, 8, device="cuda"))
    return found + devices(quantizer.indices_to_codes(indices))


@part
def scalar_perturbation():
    from vector_quantize_pytorch import FSP

    return _use(FSP(levels=[4, 3, 5], dim=8), 2, 12, 8)


@part
def lookup_free():
    import torch
    from vector_quantize_pytorch import LFQ, GroupedResidualLFQ, ResidualLFQ

    found = _use(LFQ(codebook_size=16, dim=8, entropy_loss_weight=0.1, diversity_gamma=1.0), 2, 12, 8)
    found += _use(LFQ(codebook_size=16, dim=8, num_codebooks=2, spherical=True, frac_per_sample_entropy=0.5), 2, 12, 8)
    found += _use(ResidualLFQ(dim=8, codebook_size=16, num_quantizers=3, quantize_dropout=True), 2, 12, 8)
    found += _use(GroupedResidualLFQ(dim=8, codebook_size=16, num_quantizers=2, groups=2), 2, 12, 8)
    mask = torch.ones(2, 12, dtype=torch.bool, device="cuda")
    return found + _use(LFQ(codebook_size=16, dim=8), 2, 12, 8, mask=mask)


@part
def latent():
    from vector_quantize_pytorch import LatentQuantize

    return _use(
        LatentQuantize(levels=[5, 5, 8], dim=8, commitment_loss_weight=0.1, quantization_loss_weight=0.1), 2, 8, 4, 4
    )


@part
def similarity():
    from vector_quantize_pytorch import ResidualSimVQ, SimVQ

    found = _use(SimVQ(dim=8, codebook_size=16, rotation_trick=True), 2, 12, 8)
    return found + _use(ResidualSimVQ(dim=8, num_quantizers=3, codebook_size=16, quantize_dropout=True), 2, 12, 8)


@part
def binary():
    from vector_quantize_pytorch import BinaryMapper

    return _use(BinaryMapper(bits=4), 2, 12, 4)


@part
def hierarchical():
    from vector_quantize_pytorch import HierarchicalVQ

    return _use(HierarchicalVQ(dim=8, codebook_size=16, scales=(1, 2, 4), accept_image_fmap=True), 2, 8, 4, 4)
