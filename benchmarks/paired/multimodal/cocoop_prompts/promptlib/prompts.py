"""Image-conditioned soft prompts (CoCoOp style)."""
import torch
from torch import nn


class ConditionalPromptLearner(nn.Module):
    def __init__(self, text_encoder, tokenizer, class_names, n_ctx=4):
        super().__init__()
        width = text_encoder.token_embedding.embedding_dim
        self.n_ctx = n_ctx
        self.ctx = nn.Parameter(torch.randn(n_ctx, width) * 0.02)
        self.meta_net = None

        ids = tokenizer(class_names)
        with torch.no_grad():
            emb = text_encoder.token_embedding(ids)
        self.register_buffer("prefix", emb[:, :1], persistent=False)
        self.register_buffer("suffix", emb[:, 1:], persistent=False)
        self.register_buffer("eot_index", n_ctx + (ids == tokenizer.EOT).int().argmax(dim=1), persistent=False)
        # only used for printing, never enters the graph
        self.name_lengths = (ids != tokenizer.PAD).sum(dim=1) - 2

    def _meta(self, features):
        """The bottleneck width depends on the visual backbone, so it is built on first use."""
        if self.meta_net is None:
            vis_dim, width = features.shape[-1], self.ctx.shape[-1]
            self.meta_net = nn.Sequential(
                nn.Linear(vis_dim, max(vis_dim // 4, 4)),
                nn.ReLU(inplace=True),
                nn.Linear(max(vis_dim // 4, 4), width),
            ).to(features)
        return self.meta_net(features)

    def forward(self, features):
        shift = self._meta(features).unsqueeze(1)
        ctx = self.ctx.unsqueeze(0) + shift
        n_cls = self.prefix.shape[0]
        prompts = []
        for ctx_i in ctx:
            ctx_i = ctx_i.unsqueeze(0).expand(n_cls, -1, -1)
            prompts.append(torch.cat([self.prefix, ctx_i, self.suffix], dim=1))
        return torch.stack(prompts)

    def describe(self):
        return ", ".join(str(n) for n in self.name_lengths.tolist())
