import numpy as np
import torch


def get_max_preds(batch_heatmaps):
    '''get predictions from score maps, heatmaps: numpy.ndarray([batch_size, num_joints, height, width])'''
    assert isinstance(batch_heatmaps, np.ndarray), 'batch_heatmaps should be numpy.ndarray'
    n, k, h, w = batch_heatmaps.shape
    flat = batch_heatmaps.reshape(n, k, -1)
    idx = np.argmax(flat, 2)
    return np.stack([idx % w, idx // w], axis=-1).astype(np.float32), np.amax(flat, 2)


def train(train_loader, model, criterion, optimizer, epoch):
    model.train()
    losses = []
    for i, (input, target, target_weight, meta) in enumerate(train_loader):
        if torch.cuda.is_available():
            input = input.cuda(non_blocking=True)
            target = target.cuda(non_blocking=True)
            target_weight = target_weight.cuda(non_blocking=True)

        outputs = model(input)
        loss = sum(criterion(o, target, target_weight) for o in outputs)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print('Epoch [{}] loss {:.5f}'.format(epoch, np.mean(losses)))


def validate(val_loader, model, criterion, stride):
    model.eval()
    losses, errors = [], []
    with torch.no_grad():
        for input, target, target_weight, meta in val_loader:
            if torch.cuda.is_available():
                input = input.cuda(non_blocking=True)
                target = target.cuda(non_blocking=True)
                target_weight = target_weight.cuda(non_blocking=True)

            # flip test
            output = model(input)[-1]
            flipped = model(input.flip(3))[-1].flip(3)
            output = (output + flipped) * 0.5
            losses.append(criterion(output, target, target_weight).item())

            preds, maxvals = get_max_preds(output.cpu().numpy())
            dist = np.linalg.norm(preds * stride - meta['joints'].numpy(), axis=-1)
            errors.append((dist * target_weight.squeeze(-1).cpu().numpy()).mean())
    print('Test: loss {:.5f}  mean joint error {:.2f} px'.format(np.mean(losses), np.mean(errors)))
