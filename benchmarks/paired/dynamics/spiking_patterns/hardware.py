"""Rough energy model of a neuromorphic chip, measured on the CPU like the chip's SDK does."""
import contextlib

import torch

from snn import reset_net


@contextlib.contextmanager
def on_host(net):
    """Run a block with the network in host memory, then put it back where it was."""
    origin = next(net.parameters()).device
    was_training = net.training
    reset_net(net)
    net.cpu().eval()
    try:
        yield net
    finally:
        reset_net(net)
        net.to(origin).train(was_training)


def estimate_energy(net, sample, pj_per_synop=23.6):
    with on_host(net), torch.no_grad():
        before = net.lif1.spike_count
        net(sample)
        rate = (net.lif1.spike_count - before) / len(sample)
    synops = sample.sum(dim=(0, 2)).mean().item() * net.fc1.out_features
    synops += rate * len(sample) * net.fc2.weight.numel()
    return synops * pj_per_synop * 1e-6
