"""Replace parameters inside a live Adam without losing its moments."""
import torch
import torch.nn as nn


def _swap(optimizer, group, new_param, edit):
    old = group["params"][0]
    state = optimizer.state.pop(old, None)
    group["params"][0] = new_param
    if state is not None:
        state["exp_avg"] = edit(state["exp_avg"])
        state["exp_avg_sq"] = edit(state["exp_avg_sq"])
        optimizer.state[new_param] = state
    return new_param


def prune_optimizer(optimizer, keep):
    out = {}
    for group in optimizer.param_groups:
        param = nn.Parameter(group["params"][0].detach()[keep])
        out[group["name"]] = _swap(optimizer, group, param, lambda s: s[keep])
    return out


def cat_to_optimizer(optimizer, new):
    out = {}
    for group in optimizer.param_groups:
        ext = new[group["name"]]
        param = nn.Parameter(torch.cat([group["params"][0].detach(), ext]))
        pad = torch.zeros_like(ext)
        out[group["name"]] = _swap(optimizer, group, param, lambda s: torch.cat([s, pad]))
    return out
