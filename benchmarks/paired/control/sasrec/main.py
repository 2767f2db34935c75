import argparse
import time

import numpy as np
import torch

from model import SASRec
from utils import data_partition, evaluate, sample_batch, synthetic_sequences

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', default=16, type=int)
parser.add_argument('--lr', default=0.002, type=float)
parser.add_argument('--maxlen', default=12, type=int)
parser.add_argument('--hidden_units', default=16, type=int)
parser.add_argument('--num_blocks', default=2, type=int)
parser.add_argument('--num_heads', default=1, type=int)
parser.add_argument('--num_steps', default=12, type=int)
parser.add_argument('--dropout_rate', default=0.2, type=float)
parser.add_argument('--l2_emb', default=0.0, type=float)
parser.add_argument('--device', default=None, type=str)

if __name__ == '__main__':
    args = parser.parse_args()
    if args.device is None:
        args.device = 'cuda' if torch.cuda.is_available() else 'cpu'
    np.random.seed(0)
    torch.manual_seed(0)

    usernum, itemnum = 30, 50
    user_train, user_test = data_partition(synthetic_sequences(usernum, itemnum))

    model = SASRec(usernum, itemnum, args).to(args.device)
    for name, param in model.named_parameters():
        try:
            torch.nn.init.xavier_normal_(param.data)
        except ValueError:
            pass  # biases and layer norms

    bce_criterion = torch.nn.BCEWithLogitsLoss()
    adam_optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, betas=(0.9, 0.98))
    t0 = time.time()
    model.train()
    for step in range(args.num_steps):
        seq, pos, neg = sample_batch(user_train, usernum, itemnum, args.batch_size, args.maxlen)
        pos_logits, neg_logits = model(seq, pos, neg)
        pos_labels = torch.ones(pos_logits.shape, device=args.device)
        neg_labels = torch.zeros(neg_logits.shape, device=args.device)
        adam_optimizer.zero_grad()
        indices = np.where(pos != 0)
        loss = bce_criterion(pos_logits[indices], pos_labels[indices])
        loss += bce_criterion(neg_logits[indices], neg_labels[indices])
        for param in model.item_emb.parameters():
            loss += args.l2_emb * torch.norm(param)
        loss.backward()
        adam_optimizer.step()
        if step % 4 == 0:
            print("loss in step {}: {:.4f}".format(step, loss.item()))
    model.eval()
    with torch.no_grad():
        ndcg, hr = evaluate(model, user_train, user_test, itemnum, args)
    print('time: %.2f(s), test (NDCG@5: %.4f, HR@5: %.4f)' % (time.time() - t0, ndcg, hr))
