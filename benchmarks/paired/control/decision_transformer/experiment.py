import argparse
import random

import numpy as np
import torch

from decision_transformer.data import Walker, gather, get_batch
from decision_transformer.evaluate import evaluate_episode_rtg
from decision_transformer.model import DecisionTransformer


def experiment(variant):
    device = variant['device']
    if device.startswith('cuda') and not torch.cuda.is_available():
        device = 'cpu'
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    env, scale, K = Walker(), 10., variant['K']
    trajectories = gather(20)
    model = DecisionTransformer(env.state_dim, env.act_dim, variant['embed_dim'], K)
    model = model.to(device=device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=variant['learning_rate'], weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda steps: min((steps + 1) / 5, 1))

    for iteration in range(variant['max_iters']):
        model.train()
        losses = []
        for _ in range(variant['num_steps_per_iter']):
            states, actions, rtg, timesteps, mask = get_batch(trajectories, variant['batch_size'], K, scale, device)
            preds = model(states, actions, rtg, timesteps, mask)
            keep = mask.reshape(-1) > 0
            loss = ((preds.reshape(-1, env.act_dim)[keep] - actions.reshape(-1, env.act_dim)[keep]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), .25)
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        outputs = {'loss': np.mean(losses)}
        for target in (4, 12):
            outputs['return for target %d' % target] = evaluate_episode_rtg(env, model, target, scale, device)
        print('iteration', iteration, ' '.join('%s: %.3f' % kv for kv in outputs.items()))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--K', type=int, default=6)
    parser.add_argument('--embed_dim', type=int, default=16)
    parser.add_argument('--batch_size', type=int, default=8)
    parser.add_argument('--learning_rate', '-lr', type=float, default=1e-3)
    parser.add_argument('--max_iters', type=int, default=2)
    parser.add_argument('--num_steps_per_iter', type=int, default=4)
    parser.add_argument('--device', type=str, default='cuda')
    experiment(variant=vars(parser.parse_args()))
