"""curated-transformers: small encoders, decoders and causal models, with caches and generation."""

import torch
from harness import devices, part

PROJECT = "explosion+curated-transformers"
PATHS = ["."]
PRELOAD = ["tokenizers", "huggingface_hub", "safetensors", "catalogue", "fsspec"]
_BASE = {"hidden_width": 16, "intermediate_width": 16, "n_hidden_layers": 2, "n_pieces": 20}


def _mask(shape):
    from curated_transformers.layers.attention import AttentionMask

    return AttentionMask(torch.ones(shape, dtype=torch.bool, device="cuda"))


def _encode(kind, config):
    model = kind(config).to("cuda")
    pieces = torch.randint(2, 18, (2, 5), device="cuda")
    out = model(pieces, _mask((2, 5)))
    return devices(model, out.last_hidden_layer_state)


def _decode(kind, config):
    model = kind(config).to("cuda")
    pieces = torch.randint(2, 18, (2, 5), device="cuda")
    out = model(pieces, _mask((2, 5)), store_cache=True)
    model(pieces[:, :1], _mask((2, 6)), cache=out.cache, store_cache=True)
    return devices(model, out.last_hidden_layer_state)


@part
def bert():
    from curated_transformers.models import BERTConfig, BERTEncoder

    return _encode(BERTEncoder, BERTConfig(n_attention_heads=2, embedding_width=16, **_BASE))


@part
def roberta():
    from curated_transformers.models import RoBERTaConfig, RoBERTaEncoder

    return _encode(RoBERTaEncoder, RoBERTaConfig(n_attention_heads=2, embedding_width=16, n_positions=32, **_BASE))


@part
def albert():
    from curated_transformers.models import ALBERTConfig, ALBERTEncoder

    return _encode(
        ALBERTEncoder,
        ALBERTConfig(n_attention_heads=2, embedding_width=8, n_layers_per_group=1, n_hidden_groups=1, **_BASE),
    )


@part
def llama():
    from curated_transformers.models import LlamaCausalLM, LlamaConfig, LlamaDecoder

    config = LlamaConfig(n_query_heads=2, n_key_value_heads=1, dtype=torch.float32, **_BASE)
    return _decode(LlamaDecoder, config) + _decode_causal(LlamaCausalLM, config)


@part
def falcon():
    from curated_transformers.models import FalconConfig, FalconDecoder

    base = {key: value for key, value in _BASE.items() if key != "intermediate_width"}
    found = []
    for options in ({"rotary_embedding_base": 10000}, {"use_alibi": True, "new_decoder_architecture": False}):
        found += _decode(
            FalconDecoder, FalconConfig(n_query_heads=2, n_key_value_heads=1, dtype=torch.float32, **options, **base)
        )
    return found


@part
def neox():
    from curated_transformers.models import GPTNeoXConfig, GPTNeoXDecoder

    return _decode(GPTNeoXDecoder, GPTNeoXConfig(n_attention_heads=2, n_positions=32, dtype=torch.float32, **_BASE))


@part
def mpt():
    from curated_transformers.models import MPTConfig, MPTDecoder

    base = {key: value for key, value in _BASE.items() if key != "intermediate_width"}
    return _decode(
        MPTDecoder, MPTConfig(n_attention_heads=2, intermediate_width_multiplier=2, dtype=torch.float32, **base)
    )


def _decode_causal(kind, config):
    from curated_transformers.generation.config import GreedyGeneratorConfig, SampleGeneratorConfig
    from curated_transformers.generation.generator import Generator

    model = kind(config).to("cuda").eval()
    generator = Generator(model)
    pieces = torch.randint(2, 18, (2, 4), device="cuda")
    for options in (
        GreedyGeneratorConfig(eos_id=19, max_generated_pieces=2),
        SampleGeneratorConfig(eos_id=19, max_generated_pieces=2, top_k=5, top_p=0.9),
    ):
        list(generator(attention_mask=_mask((2, 4)), ids=pieces, config=options))
    return devices(model)


@part
def attention():
    from curated_transformers.layers.attention import AttentionLinearBiases, AttentionMask

    biases = AttentionLinearBiases(n_attention_heads=2, is_causal=True, is_inverted=False).to("cuda")
    biases(attention_scores=torch.rand(2, 2, 4, 4, device="cuda")) if hasattr(biases, "forward") else None
    mask = AttentionMask(torch.ones(2, 4, dtype=torch.bool, device="cuda"))
    mask.logit_mask(torch.float32)


@part
def positions():
    from curated_transformers.layers.embeddings import (
        QueryKeyRotaryEmbeddings,
        RotaryEmbeddings,
        SinusoidalPositionalEmbedding,
    )

    SinusoidalPositionalEmbedding(width=8, max_len=12, normalize=True).to("cuda")(torch.rand(2, 5, 8, device="cuda"))
    rotary = RotaryEmbeddings(8, seq_len=4).to("cuda")
    rotary(torch.rand(2, 2, 6, 8, device="cuda"))
    embed = QueryKeyRotaryEmbeddings(fraction=0.5, head_width=8).to("cuda")
    embed(query=torch.rand(2, 2, 6, 8, device="cuda"), key=torch.rand(2, 2, 6, 8, device="cuda"))
