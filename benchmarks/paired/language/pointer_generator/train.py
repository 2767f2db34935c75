import time

import torch
from torch.nn.utils import clip_grad_norm_

import config
from batcher import Batcher
from model import Model
from training.train_util import get_input_from_batch, get_output_from_batch

use_cuda = config.use_cuda


class Train(object):
    def __init__(self):
        self.batcher = Batcher()

    def setup_train(self):
        self.model = Model()
        self.optimizer = torch.optim.Adagrad(self.model.parameters(), lr=config.lr,
                                             initial_accumulator_value=config.adagrad_init_acc)

    def train_one_batch(self, batch):
        enc_batch, enc_padding_mask, enc_lens, enc_batch_extend_vocab, extra_zeros, c_t_1, coverage = \
            get_input_from_batch(batch)
        dec_batch, dec_padding_mask, max_dec_len, dec_lens_var, target_batch = get_output_from_batch(batch)

        self.optimizer.zero_grad()
        encoder_outputs, encoder_feature, encoder_hidden = self.model.encoder(enc_batch, enc_lens)
        s_t_1 = self.model.reduce_state(encoder_hidden)

        step_losses = []
        for di in range(min(max_dec_len, config.max_dec_steps)):
            y_t_1 = dec_batch[:, di]  # Teacher forcing
            final_dist, s_t_1, c_t_1, attn_dist, next_coverage = self.model.decoder(
                y_t_1, s_t_1, encoder_outputs, encoder_feature, enc_padding_mask, c_t_1,
                extra_zeros, enc_batch_extend_vocab, coverage)
            target = target_batch[:, di]
            gold_probs = torch.gather(final_dist, 1, target.unsqueeze(1)).squeeze(1)
            step_loss = -torch.log(gold_probs + config.eps)
            if config.is_coverage:
                step_coverage_loss = torch.sum(torch.min(attn_dist, coverage), 1)
                step_loss = step_loss + config.cov_loss_wt * step_coverage_loss
                coverage = next_coverage
            step_losses.append(step_loss * dec_padding_mask[:, di])

        sum_losses = torch.sum(torch.stack(step_losses, 1), 1)
        loss = torch.mean(sum_losses / dec_lens_var)
        loss.backward()
        clip_grad_norm_(self.model.parameters(), config.max_grad_norm)
        self.optimizer.step()
        return loss.item()

    def trainIters(self, n_iters):
        start = time.time()
        self.setup_train()
        running_avg = 0.
        for it in range(n_iters):
            loss = self.train_one_batch(self.batcher.next_batch())
            running_avg = loss if it == 0 else 0.9 * running_avg + 0.1 * loss
            if it % 3 == 2:
                print('steps %d, seconds for batches: %.2f, loss: %f' % (it + 1, time.time() - start, running_avg))


if __name__ == '__main__':
    torch.manual_seed(123)
    print('use_cuda', use_cuda)
    Train().trainIters(config.max_iterations)
