import logging

import numpy as np
import torch
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

log = logging.getLogger(__name__)


def text_vectors(texts, dim, seed=0):
    tfidf = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
    svd = TruncatedSVD(dim, random_state=seed)
    vec = normalize(svd.fit_transform(tfidf)).astype(np.float32)
    log.info("content vectors %s, explained variance %.2f", vec.shape, svd.explained_variance_ratio_.sum())
    return vec


def warm_start(model, vectors, known):
    """Load content vectors for the items that have a description; the rest keep their init."""
    weight = model.item_content.weight
    rows = torch.as_tensor(known, device=weight.device)
    weight.data[rows] = torch.from_numpy(vectors[known]).to(weight.device)
    weight.requires_grad_(False)
    return len(known)
