import os
import tempfile

import numpy as np
import torch
from torch.utils.data import DataLoader

from lib.dataset import StickFigures
from lib.heatmap import draw_gaussians, soft_argmax
from lib.model import create_model, load_model
from lib.opts import parse_opts
from lib.trainer import Trainer


def check_targets(dataset, res, n=4):
    """Make sure that coordinates survive coordinate -> heatmap -> coordinate."""
    err = []
    for i in range(n):
        joints = dataset[i]['joints']
        heat = draw_gaussians(joints, res)
        err.append((soft_argmax(heat.unsqueeze(0), beta=50.0)[0] - joints).abs().max().item())
    print('quantisation error of the targets: %.3f px' % max(err))


def save_results(preds, path):
    np.savez(path, preds=preds.numpy())


def main():
    args = parse_opts()
    torch.manual_seed(317)
    out_dir = tempfile.mkdtemp(prefix=args.exp_id)
    train_set, val_set = StickFigures(args, 'train'), StickFigures(args, 'val')
    check_targets(train_set, args.output_res)

    model = create_model(args)
    if args.load_model:
        model = load_model(model, args.load_model)
    optimizer = torch.optim.Adam(model.parameters(), args.lr)
    trainer = Trainer(args, model, optimizer)
    trainer.set_device(args.device)

    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=args.batch_size)
    best = float('inf')
    for epoch in range(1, args.num_epochs + 1):
        trainer.train(epoch, train_loader)
        if epoch % args.val_intervals == 0:
            loss, preds = trainer.val(epoch, val_loader)
            if loss < best:
                best = loss
                torch.save({'epoch': epoch, 'state_dict': model.state_dict()}, os.path.join(out_dir, 'model_best.pth'))
                save_results(preds, os.path.join(out_dir, 'preds.npz'))


if __name__ == '__main__':
    main()
