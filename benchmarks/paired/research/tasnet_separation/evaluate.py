import numpy as np
import torch

from conv_tasnet import ConvTasNet
from data import get_loader
from pit_criterion import cal_loss


def remove_pad(inputs, inputs_lengths):
    results = []
    for x, length in zip(inputs, inputs_lengths):
        results.append(x[:, :length].view(x.size(0), -1).cpu().numpy())
    return results


def cal_SISNR(ref_sig, out_sig, eps=1e-8):
    ref_sig = ref_sig - np.mean(ref_sig)
    out_sig = out_sig - np.mean(out_sig)
    proj = np.sum(ref_sig * out_sig) * ref_sig / (np.sum(ref_sig ** 2) + eps)
    noise = out_sig - proj
    return 10 * np.log(np.sum(proj ** 2) / (np.sum(noise ** 2) + eps) + eps) / np.log(10.0)


def evaluate(model_path, use_cuda, batch_size=2):
    total_SISNRi, total_cnt = 0, 0
    model = ConvTasNet.load_model(model_path)
    model.eval()
    if use_cuda:
        model.cuda()
    with torch.no_grad():
        for padded_mixture, lengths, padded_source in get_loader(6, 77, batch_size):
            if use_cuda:
                padded_mixture, padded_source = padded_mixture.cuda(), padded_source.cuda()
                lengths = lengths.cuda()
            estimate_source = model(padded_mixture)
            _, _, reorder = cal_loss(padded_source, estimate_source, lengths)
            mixture = remove_pad(padded_mixture.unsqueeze(1), lengths)
            source = remove_pad(padded_source, lengths)
            estimate = remove_pad(reorder, lengths)
            for mix, ref, est in zip(mixture, source, estimate):
                for c in range(ref.shape[0]):
                    total_SISNRi += cal_SISNR(ref[c], est[c]) - cal_SISNR(ref[c], mix[0])
                    total_cnt += 1
    print("Average SISNR improvement: {0:.2f}".format(total_SISNRi / total_cnt))
