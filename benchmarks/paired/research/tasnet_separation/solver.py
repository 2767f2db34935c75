import os
import time

import torch

from pit_criterion import cal_loss


class Solver(object):
    def __init__(self, data, model, optimizer, args):
        self.tr_loader, self.cv_loader = data['tr_loader'], data['cv_loader']
        self.model = model
        self.optimizer = optimizer
        self.use_cuda = args.use_cuda
        self.epochs = args.epochs
        self.half_lr = args.half_lr
        self.max_norm = args.max_norm
        self.save_folder = args.save_folder
        self.continue_from = args.continue_from
        self.model_path = args.model_path
        self.print_freq = args.print_freq
        self.tr_loss = torch.Tensor(self.epochs)
        self.cv_loss = torch.Tensor(self.epochs)
        self._reset()

    def _net(self):
        return self.model.module if isinstance(self.model, torch.nn.DataParallel) else self.model

    def _reset(self):
        self.start_epoch = 0
        if self.continue_from:
            print('Loading checkpoint model %s' % self.continue_from)
            package = torch.load(self.continue_from, map_location='cpu')
            self._net().load_state_dict(package['state_dict'])
            self.optimizer.load_state_dict(package['optim_dict'])
            self.start_epoch = int(package.get('epoch', 1))
            self.tr_loss[:self.start_epoch] = package['tr_loss'][:self.start_epoch]
            self.cv_loss[:self.start_epoch] = package['cv_loss'][:self.start_epoch]
        self.prev_val_loss = float("inf")
        self.best_val_loss = float("inf")
        self.halving = False

    def train(self):
        for epoch in range(self.start_epoch, self.epochs):
            self.model.train()
            start = time.time()
            tr_avg_loss = self._run_one_epoch(epoch)
            self.model.eval()
            val_loss = self._run_one_epoch(epoch, cross_valid=True)
            print('Epoch {0} | Time {1:.2f}s | Train {2:.3f} | Valid {3:.3f}'.format(
                epoch + 1, time.time() - start, tr_avg_loss, val_loss))
            if self.half_lr and val_loss >= self.prev_val_loss:
                for group in self.optimizer.param_groups:
                    group['lr'] /= 2.0
            self.prev_val_loss = val_loss
            self.tr_loss[epoch] = tr_avg_loss
            self.cv_loss[epoch] = val_loss
            if val_loss < self.best_val_loss:
                self.best_val_loss = val_loss
                file_path = os.path.join(self.save_folder, self.model_path)
                net = self._net()
                torch.save(net.serialize(net, self.optimizer, epoch + 1, tr_loss=self.tr_loss,
                                         cv_loss=self.cv_loss), file_path)

    def _run_one_epoch(self, epoch, cross_valid=False):
        total_loss = 0
        data_loader = self.tr_loader if not cross_valid else self.cv_loader
        for i, (padded_mixture, mixture_lengths, padded_source) in enumerate(data_loader):
            if self.use_cuda:
                padded_mixture = padded_mixture.cuda()
                mixture_lengths = mixture_lengths.cuda()
                padded_source = padded_source.cuda()
            with torch.set_grad_enabled(not cross_valid):
                estimate_source = self.model(padded_mixture)
                loss, max_snr, _ = cal_loss(padded_source, estimate_source, mixture_lengths)
            if not cross_valid:
                self.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
                self.optimizer.step()
            total_loss += loss.item()
            if i % self.print_freq == 0:
                print('Epoch {0} | Iter {1} | Average Loss {2:.3f}'.format(epoch + 1, i + 1, total_loss / (i + 1)))
        return total_loss / (i + 1)
