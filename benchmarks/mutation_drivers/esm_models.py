"""esm: small models of each kind, the contact head, the batch converter, the checkpoint loader."""

from argparse import Namespace

import torch
from harness import devices, part

PROJECT = "facebookresearch+esm"
PATHS = ["."]
PRELOAD = ["numpy", "scipy.spatial.transform", "scipy.stats"]


def _tokens(alphabet, rows=2):
    _, _, tokens = alphabet.get_batch_converter()([(str(i), "MKTAYIA"[: 7 - i]) for i in range(rows)])
    return tokens.to("cuda")


@part
def esm2():
    import esm

    alphabet = esm.data.Alphabet.from_architecture("ESM-1b")
    model = esm.ESM2(num_layers=2, embed_dim=16, attention_heads=2, alphabet=alphabet).to("cuda")
    out = model(_tokens(alphabet), repr_layers=[0, 2], need_head_weights=True, return_contacts=True)
    out["logits"].sum().backward()
    return devices(model, out)


@part
def esm1():
    import esm

    for name, arch in (("roberta_large", "ESM-1b"), ("protein_bert_base", "ESM-1")):
        alphabet = esm.data.Alphabet.from_architecture(arch)
        arguments = Namespace(
            arch=name,
            layers=2,
            embed_dim=16,
            ffn_embed_dim=16,
            attention_heads=2,
            max_positions=64,
            emb_layer_norm_before=True,
            token_dropout=True,
            final_bias=True,
            logit_bias=True,
        )
        model = esm.ProteinBertModel(arguments, alphabet).to("cuda")
        model(_tokens(alphabet), repr_layers=[2], need_head_weights=True, return_contacts=True)


@part
def msa():
    import esm

    alphabet = esm.data.Alphabet.from_architecture("msa_transformer")
    arguments = Namespace(
        arch="msa_transformer",
        layers=2,
        embed_dim=16,
        ffn_embed_dim=16,
        attention_heads=2,
        max_positions=64,
        embed_positions_msa=True,
        embed_positions_msa_dim=16,
        dropout=0.0,
        attention_dropout=0.0,
        activation_dropout=0.0,
        max_tokens=2**14,
        max_tokens_per_msa=2**4,
        emb_layer_norm_before=True,
    )
    model = esm.MSATransformer(arguments, alphabet).to("cuda")
    _, _, tokens = alphabet.get_batch_converter()([("a", "MKTAYIA"), ("b", "MKTAYIV")])
    tokens = tokens.to("cuda")
    model(tokens, repr_layers=[2], need_head_weights=True, return_contacts=True)
    model.eval()
    with torch.no_grad():
        model(tokens)


@part
def incremental():
    from esm.multihead_attention import MultiheadAttention

    attention = MultiheadAttention(8, 2, self_attention=True, add_bias_kv=True, add_zero_attn=True).to("cuda")
    x = torch.rand(3, 2, 8, device="cuda")
    mask = torch.zeros(2, 3, dtype=torch.bool, device="cuda")
    attention(x, x, x, key_padding_mask=mask, attn_mask=torch.zeros(3, 3, device="cuda"))


@part
def positions():
    from esm.modules import LearnedPositionalEmbedding, SinusoidalPositionalEmbedding

    tokens = torch.randint(2, 9, (2, 5), device="cuda")
    LearnedPositionalEmbedding(9, 4, 1).to("cuda")(tokens)
    SinusoidalPositionalEmbedding(4, 1).to("cuda")(tokens)


@part
def folding_parts():
    from harness import stub

    for name in ("openfold", "openfold.model", "openfold.np", "openfold.utils", "openfold.data"):
        stub(name)
    stub(
        "openfold.np",
        residue_constants=Namespace(restypes=list("ARND"), restype_order_with_x={"A": 0}, atom_order={"CA": 1}),
    )
    stub("openfold.np.protein", Protein=None, to_pdb=None)
    stub("openfold.utils.feats", atom14_to_atom37=None)
    stub("openfold.np.residue_constants", restypes=list("ARND"), restype_order_with_x={"A": 0})
    from esm.esmfold.v1.categorical_mixture import categorical_lddt
    from esm.esmfold.v1.misc import Attention, PairToSequence, SequenceToPair, collate_dense_tensors

    categorical_lddt(torch.rand(2, 3, 50, device="cuda"))
    attention = Attention(8, 2, 4, gated=True).to("cuda")
    attention(torch.rand(2, 3, 8, device="cuda"), mask=torch.ones(2, 3, dtype=torch.bool, device="cuda"))
    SequenceToPair(8, 4, 6).to("cuda")(torch.rand(2, 3, 8, device="cuda"))
    PairToSequence(6, 2).to("cuda")(torch.rand(2, 3, 3, 6, device="cuda"))
    return devices(collate_dense_tensors([torch.rand(2, device="cuda"), torch.rand(3, device="cuda")]))


@part
def inverse_folding():
    from harness import stub

    for name in (
        "biotite.structure.io.pdbx",
        "biotite.structure.io.pdb",
        "biotite.structure.residues",
        "biotite.sequence",
        "torch_scatter",
        "torch_cluster",
    ):
        stub(name)
    stub("biotite.structure", filter_backbone=None, get_chains=None, AtomArray=None)
    stub("biotite.structure.residues", get_residues=None)
    stub("biotite.sequence", ProteinSequence=None)
    stub("torch_scatter", scatter_add=_scatter, scatter=_scatter)
    stub("torch_geometric.nn", MessagePassing=torch.nn.Module)
    import esm
    from esm.inverse_folding import features, util

    coords = torch.rand(2, 6, 3, 3, device="cuda")
    util.rotate(coords[:, 0], torch.eye(3, device="cuda")[None].expand(2, -1, -1))
    util.rbf(torch.rand(2, 6, device="cuda"), 0.0, 20.0)
    features.DihedralFeatures(8).to("cuda")(coords)
    converter = util.CoordBatchConverter(esm.data.Alphabet.from_architecture("invariant_gvp"))
    return devices(converter([(coords[0].cpu().numpy(), None, "MKTAYI")], device="cuda"))


def _scatter(source, index, dim=0, dim_size=None, **options):
    shape = list(source.shape)
    shape[dim] = dim_size or int(index.max()) + 1
    return torch.zeros(shape, device=source.device).index_add(dim, index, source)
