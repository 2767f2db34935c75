import torch

hidden_dim = 16
emb_dim = 16
batch_size = 4
max_enc_steps = 20
max_dec_steps = 6
vocab_size = 60
n_words = 90          # words above vocab_size are out of vocabulary

lr = 0.15
adagrad_init_acc = 0.1
rand_unif_init_mag = 0.02
max_grad_norm = 2.0
cov_loss_wt = 1.0
is_coverage = True
eps = 1e-12
max_iterations = 6

use_gpu = True
use_cuda = use_gpu and torch.cuda.is_available()
