# SI-SNR with utterance level permutation invariant training
from itertools import permutations

import torch
import torch.nn.functional as F

EPS = 1e-8


def cal_loss(source, estimate_source, source_lengths):
    """
    Args:
        source: [B, C, T], B is batch size
        estimate_source: [B, C, T]
        source_lengths: [B]
    """
    max_snr, perms, max_snr_idx = cal_si_snr_with_pit(source, estimate_source, source_lengths)
    loss = 0 - torch.mean(max_snr)
    reorder_estimate_source_ = reorder_source(estimate_source, perms, max_snr_idx)
    return loss, max_snr, reorder_estimate_source_


def cal_si_snr_with_pit(source, estimate_source, source_lengths):
    assert source.size() == estimate_source.size()
    B, C, T = source.size()
    mask = get_mask(source, source_lengths)
    estimate_source = estimate_source * mask

    num_samples = source_lengths.view(-1, 1, 1).float()
    zero_mean_target = (source - torch.sum(source, dim=2, keepdim=True) / num_samples) * mask
    zero_mean_estimate = (estimate_source - torch.sum(estimate_source, dim=2, keepdim=True) / num_samples) * mask

    s_target = torch.unsqueeze(zero_mean_target, dim=1)      # [B, 1, C, T]
    s_estimate = torch.unsqueeze(zero_mean_estimate, dim=2)  # [B, C, 1, T]
    dot = torch.sum(s_estimate * s_target, dim=3, keepdim=True)
    energy = torch.sum(s_target ** 2, dim=3, keepdim=True) + EPS
    proj = dot * s_target / energy
    noise = s_estimate - proj
    snr = torch.sum(proj ** 2, dim=3) / (torch.sum(noise ** 2, dim=3) + EPS)
    snr = 10 * torch.log10(snr + EPS)                        # [B, C, C]

    perms = source.new_tensor(list(permutations(range(C))), dtype=torch.long)
    index = torch.unsqueeze(perms, 2)
    perms_one_hot = source.new_zeros((*perms.size(), C)).scatter_(2, index, 1)
    snr_set = torch.einsum('bij,pij->bp', [snr, perms_one_hot])
    max_snr_idx = torch.argmax(snr_set, dim=1)
    max_snr, _ = torch.max(snr_set, dim=1, keepdim=True)
    max_snr /= C
    return max_snr, perms, max_snr_idx


def reorder_source(source, perms, max_snr_idx):
    B, C, *_ = source.size()
    max_snr_perm = torch.index_select(perms, dim=0, index=max_snr_idx)
    reorder = torch.zeros_like(source)
    for b in range(B):
        for c in range(C):
            reorder[b, c] = source[b, max_snr_perm[b][c]]
    return reorder


def get_mask(source, source_lengths):
    B, _, T = source.size()
    mask = source.new_ones((B, 1, T))
    for i in range(B):
        mask[i, :, source_lengths[i]:] = 0
    return mask
