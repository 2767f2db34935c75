"""Random 'molecules' as bags of fragments, hashed into count fingerprints."""
import hashlib

import numpy as np

FRAGMENTS = ["C", "CC", "C=O", "OH", "NH2", "Ph", "CF3", "SO2", "Cl", "OMe", "CN", "Py"]
CONTRIB = np.array([0.1, 0.3, -0.9, -1.1, -0.8, 1.4, 0.9, -1.3, 0.7, -0.1, -0.5, 0.4])


def _bucket(text, bits):
    return int(hashlib.md5(text.encode()).hexdigest(), 16) % bits


def random_molecules(n, rng):
    return [rng.choice(len(FRAGMENTS), rng.integers(2, 7)) for _ in range(n)]


def fingerprint(mol, bits):
    fp = np.zeros(bits, dtype=np.float32)
    for a in mol:
        fp[_bucket(FRAGMENTS[a], bits)] += 1
    for a, b in zip(mol[:-1], mol[1:]):
        fp[_bucket("-".join(sorted((FRAGMENTS[a], FRAGMENTS[b]))), bits)] += 0.5
    return fp


def oracle(mol, rng):
    """Expensive experiment: logP with a non-additive term."""
    c = CONTRIB[mol]
    return float(c.sum() + 0.6 * np.tanh(c[0] * c[-1]) + rng.normal(scale=0.05))
