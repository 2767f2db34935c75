import numpy as np
import torch

from batch import data_gen
from loss import LabelSmoothingLoss
from model import EncoderDecoder, subsequent_mask
from optim import NoamOpt

DEVICE = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
V = 11


def run_epoch(batches, model, criterion, opt=None):
    total_loss, total_tokens = 0., 0
    for batch in batches:
        out = model(batch.src, batch.trg, batch.src_mask, batch.trg_mask)
        loss = criterion(out.contiguous().view(-1, out.size(-1)), batch.trg_y.contiguous().view(-1))
        if opt is not None:
            (loss / batch.ntokens).backward()
            opt.step()
            opt.zero_grad()
        total_loss += loss.item()
        total_tokens += batch.ntokens
    return total_loss / total_tokens


def greedy_decode(model, src, src_mask, max_len, start_symbol):
    memory = model.encode(src, src_mask)
    ys = torch.full((1, 1), start_symbol, dtype=torch.long, device=src.device)
    for _ in range(max_len - 1):
        prob = model.decode(memory, src_mask, ys, subsequent_mask(ys.size(1)).to(src.device))
        next_word = prob[:, -1].argmax(dim=-1, keepdim=True)
        ys = torch.cat([ys, next_word], dim=1)
    return ys


if __name__ == '__main__':
    np.random.seed(0)
    torch.manual_seed(0)
    model = EncoderDecoder(V, V).to(DEVICE)
    criterion = LabelSmoothingLoss(0.1, V, ignore_index=0).to(DEVICE)
    model_opt = NoamOpt(32, 1, 20, model.parameters())

    for epoch in range(2):
        model.train()
        train_loss = run_epoch(data_gen(V, 16, 8, DEVICE), model, criterion, model_opt)
        model.eval()
        with torch.no_grad():
            valid_loss = run_epoch(data_gen(V, 16, 2, DEVICE), model, criterion)
        print('Epoch %d train %.4f valid %.4f' % (epoch, train_loss, valid_loss))

    src = torch.tensor([[1, 2, 3, 4, 5, 6]], device=DEVICE)
    with torch.no_grad():
        print(greedy_decode(model, src, torch.ones(1, 1, 6, device=DEVICE), max_len=6, start_symbol=1))
