import torch
from torch import nn


class LightGCN(nn.Module):
    def __init__(self, config, dataset):
        super(LightGCN, self).__init__()
        self.config = config
        self.num_users = dataset.n_users
        self.num_items = dataset.m_items
        self.n_layers = config['lightGCN_n_layers']
        self.keep_prob = config['keep_prob']
        self.embedding_user = nn.Embedding(self.num_users, config['latent_dim_rec'])
        self.embedding_item = nn.Embedding(self.num_items, config['latent_dim_rec'])
        nn.init.normal_(self.embedding_user.weight, std=0.1)
        nn.init.normal_(self.embedding_item.weight, std=0.1)
        self.f = nn.Sigmoid()
        self.Graph = dataset.getSparseGraph()

    def _dropout_x(self, x, keep_prob):
        size = x.size()
        index = x.indices().t()
        values = x.values()
        random_index = torch.rand(len(values), device=values.device) + keep_prob
        random_index = random_index.int().bool()
        index = index[random_index]
        values = values[random_index] / keep_prob
        return torch.sparse_coo_tensor(index.t(), values, size)

    def computer(self):
        """propagation of the embeddings"""
        all_emb = torch.cat([self.embedding_user.weight, self.embedding_item.weight])
        embs = [all_emb]
        if self.config['dropout'] and self.training:
            g = self._dropout_x(self.Graph, self.keep_prob)
        else:
            g = self.Graph
        for layer in range(self.n_layers):
            all_emb = torch.sparse.mm(g, all_emb)
            embs.append(all_emb)
        light_out = torch.mean(torch.stack(embs, dim=1), dim=1)
        return torch.split(light_out, [self.num_users, self.num_items])

    def getUsersRating(self, users):
        all_users, all_items = self.computer()
        return self.f(torch.matmul(all_users[users.long()], all_items.t()))

    def bpr_loss(self, users, pos, neg):
        all_users, all_items = self.computer()
        users_emb, pos_emb, neg_emb = all_users[users], all_items[pos], all_items[neg]
        reg_loss = 0.5 * (self.embedding_user(users).norm(2).pow(2) + self.embedding_item(pos).norm(2).pow(2)
                          + self.embedding_item(neg).norm(2).pow(2)) / float(len(users))
        pos_scores = torch.sum(users_emb * pos_emb, dim=1)
        neg_scores = torch.sum(users_emb * neg_emb, dim=1)
        return torch.mean(nn.functional.softplus(neg_scores - pos_scores)), reg_loss
