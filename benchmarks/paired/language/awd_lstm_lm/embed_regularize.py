import torch


def embedded_dropout(embed, words, dropout=0.1):
    if dropout:
        mask = embed.weight.data.new_empty((embed.weight.size(0), 1)).bernoulli_(1 - dropout) / (1 - dropout)
        masked_embed_weight = mask.expand_as(embed.weight) * embed.weight
    else:
        masked_embed_weight = embed.weight

    padding_idx = embed.padding_idx
    if padding_idx is None:
        padding_idx = -1
    return torch.nn.functional.embedding(words, masked_embed_weight, padding_idx, embed.max_norm,
                                         embed.norm_type, embed.scale_grad_by_freq, embed.sparse)
