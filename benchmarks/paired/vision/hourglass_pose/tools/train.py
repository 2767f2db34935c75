import argparse

import torch
import yaml

import _init_paths
from lib.core.function import train, validate
from lib.core.loss import JointsMSELoss
from lib.dataset.joints import JointsDataset
from lib.models.hourglass import get_pose_net


def parse_args():
    parser = argparse.ArgumentParser(description='Train keypoints network')
    parser.add_argument('--cfg', help='experiment configure file name', required=True, type=str)
    return parser.parse_args()


def main():
    args = parse_args()
    with open(args.cfg) as f:
        cfg = yaml.safe_load(f)
    torch.manual_seed(0)

    model = get_pose_net(cfg)
    criterion = JointsMSELoss(cfg['LOSS']['USE_TARGET_WEIGHT'])
    if torch.cuda.is_available():
        torch.cuda.set_device(cfg['GPUS'])
        model = model.cuda()
        criterion = criterion.cuda()

    optimizer = torch.optim.Adam(model.parameters(), lr=cfg['TRAIN']['LR'])
    lr_scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [1], 0.5)
    train_loader = torch.utils.data.DataLoader(
        JointsDataset(cfg, 16, 0), batch_size=cfg['TRAIN']['BATCH_SIZE'], shuffle=True)
    val_loader = torch.utils.data.DataLoader(
        JointsDataset(cfg, 8, 1000), batch_size=cfg['TRAIN']['BATCH_SIZE'])

    stride = cfg['MODEL']['IMAGE_SIZE'] / cfg['MODEL']['HEATMAP_SIZE']
    for epoch in range(cfg['TRAIN']['EPOCHS']):
        train(train_loader, model, criterion, optimizer, epoch)
        validate(val_loader, model, criterion, stride)
        lr_scheduler.step()


if __name__ == '__main__':
    main()
