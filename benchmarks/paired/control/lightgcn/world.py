import torch

config = {
    'bpr_batch_size': 64,
    'latent_dim_rec': 8,
    'lightGCN_n_layers': 2,
    'keep_prob': 0.8,
    'dropout': True,
    'lr': 0.02,
    'decay': 1e-4,
    'epochs': 4,
    'topk': 5,
    'seed': 2020,
}

GPU = torch.cuda.is_available()
device = torch.device('cuda' if GPU else 'cpu')


def cprint(words: str):
    print(f"\033[0;30;43m{words}\033[0m")
