''' This script handles the training process. '''
import argparse
import math
import os
import tempfile

import torch
import torch.nn.functional as F
import torch.optim as optim

import transformer.Constants as Constants
from dataset import prepare_dataloaders
from transformer.Models import Transformer
from transformer.Optim import ScheduledOptim
from translate import translate


def cal_performance(pred, gold, trg_pad_idx, smoothing=False):
    loss = cal_loss(pred, gold, trg_pad_idx, smoothing=smoothing)
    pred = pred.max(1)[1]
    gold = gold.contiguous().view(-1)
    non_pad_mask = gold.ne(trg_pad_idx)
    n_correct = pred.eq(gold).masked_select(non_pad_mask).sum().item()
    return loss, n_correct, non_pad_mask.sum().item()


def cal_loss(pred, gold, trg_pad_idx, smoothing=False):
    gold = gold.contiguous().view(-1)
    if not smoothing:
        return F.cross_entropy(pred, gold, ignore_index=trg_pad_idx, reduction='sum')
    eps = 0.1
    n_class = pred.size(1)
    one_hot = torch.zeros_like(pred).scatter(1, gold.view(-1, 1), 1)
    one_hot = one_hot * (1 - eps) + (1 - one_hot) * eps / (n_class - 1)
    log_prb = F.log_softmax(pred, dim=1)
    return -(one_hot * log_prb).sum(dim=1).masked_select(gold.ne(trg_pad_idx)).sum()


def patch_trg(trg):
    return trg[:, :-1], trg[:, 1:].contiguous().view(-1)


def run_epoch(model, data, device, optimizer=None, smoothing=False):
    model.train() if optimizer is not None else model.eval()
    total_loss, n_word_total, n_word_correct = 0, 0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for src, trg in data:
            src_seq = src.to(device)
            trg_seq, gold = map(lambda x: x.to(device), patch_trg(trg))
            if optimizer is not None:
                optimizer.zero_grad()
            pred = model(src_seq, trg_seq)
            loss, n_correct, n_word = cal_performance(pred, gold, Constants.PAD, smoothing=smoothing)
            if optimizer is not None:
                loss.backward()
                optimizer.step_and_update_lr()
            n_word_total += n_word
            n_word_correct += n_correct
            total_loss += loss.item()
    return total_loss / n_word_total, n_word_correct / n_word_total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-epoch', type=int, default=2)
    parser.add_argument('-b', '--batch_size', type=int, default=16)
    parser.add_argument('-vocab', type=int, default=20)
    parser.add_argument('-d_model', type=int, default=16)
    parser.add_argument('-d_inner_hid', type=int, default=32)
    parser.add_argument('-warmup', '--n_warmup_steps', type=int, default=20)
    parser.add_argument('-lr_mul', type=float, default=0.5)
    parser.add_argument('-output_dir', type=str, default=None)
    parser.add_argument('-no_cuda', action='store_true')
    parser.add_argument('-label_smoothing', action='store_true')
    opt = parser.parse_args()
    opt.cuda = not opt.no_cuda and torch.cuda.is_available()
    torch.manual_seed(0)
    device = torch.device('cuda' if opt.cuda else 'cpu')

    training_data, validation_data = prepare_dataloaders(opt)
    model = Transformer(opt.vocab, opt.vocab, Constants.PAD, Constants.PAD,
                        d_model=opt.d_model, d_inner=opt.d_inner_hid).to(device)
    optimizer = ScheduledOptim(optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-09),
                               opt.lr_mul, opt.d_model, opt.n_warmup_steps)

    output_dir = opt.output_dir or tempfile.mkdtemp()
    path = os.path.join(output_dir, 'model.chkpt')
    valid_losses = []
    for epoch_i in range(opt.epoch):
        train_loss, train_acc = run_epoch(model, training_data, device, optimizer, smoothing=opt.label_smoothing)
        valid_loss, valid_acc = run_epoch(model, validation_data, device)
        print('[ Epoch {} ] train ppl {:8.3f} acc {:.3f} | valid ppl {:8.3f} acc {:.3f}'.format(
            epoch_i, math.exp(min(train_loss, 100)), train_acc, math.exp(min(valid_loss, 100)), valid_acc))
        valid_losses.append(valid_loss)
        if valid_loss <= min(valid_losses):
            torch.save({'epoch': epoch_i, 'settings': vars(opt), 'model': model.state_dict()}, path)
            print('    - [Info] The checkpoint file has been updated.')

    translate(path, validation_data.dataset.pairs[:4], device)


if __name__ == '__main__':
    main()
