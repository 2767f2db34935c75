import numpy as np
import scipy.sparse as sp
import torch

import world


class BlockDataset(object):
    """A bipartite graph with communities."""

    def __init__(self, n_user=40, m_item=50, blocks=4, seed=0):
        rng = np.random.RandomState(seed)
        ub, ib = rng.randint(blocks, size=n_user), rng.randint(blocks, size=m_item)
        p = np.where(ub[:, None] == ib[None, :], 0.5, 0.02)
        full = rng.rand(n_user, m_item) < p
        test = full & (rng.rand(n_user, m_item) < 0.25)
        self.n_users, self.m_items = n_user, m_item
        self.UserItemNet = sp.csr_matrix((full & ~test).astype(np.float32))
        self.trainUser, self.trainItem = self.UserItemNet.nonzero()
        self.testDict = {u: np.flatnonzero(test[u]) for u in range(n_user) if test[u].any()}
        self.Graph = None

    def getUserPosItems(self, users):
        return [self.UserItemNet[u].nonzero()[1] for u in users]

    def _convert_sp_mat_to_sp_tensor(self, X):
        coo = X.tocoo().astype(np.float32)
        index = torch.stack([torch.from_numpy(coo.row).long(), torch.from_numpy(coo.col).long()])
        return torch.sparse_coo_tensor(index, torch.from_numpy(coo.data), torch.Size(coo.shape))

    def getSparseGraph(self):
        if self.Graph is None:
            R = self.UserItemNet
            adj_mat = sp.bmat([[None, R], [R.T, None]], format='csr')
            rowsum = np.array(adj_mat.sum(axis=1)).flatten()
            d_inv = np.zeros_like(rowsum)
            d_inv[rowsum > 0] = np.power(rowsum[rowsum > 0], -0.5)
            d_mat = sp.diags(d_inv)
            norm_adj = d_mat.dot(adj_mat).dot(d_mat).tocsr()
            self.Graph = self._convert_sp_mat_to_sp_tensor(norm_adj)
            self.Graph = self.Graph.coalesce().to(world.device)
            world.cprint("adjacency matrix with %d entries" % self.Graph._nnz())
        return self.Graph

    def uniform_sample(self):
        S = []
        for user in np.random.randint(0, self.n_users, len(self.trainUser)):
            pos = self.getUserPosItems([user])[0]
            if len(pos) == 0:
                continue
            neg = np.random.randint(0, self.m_items)
            while neg in pos:
                neg = np.random.randint(0, self.m_items)
            S.append([user, np.random.choice(pos), neg])
        return np.array(S)
