import torch.nn as nn
import torch.optim as optim

from losses import ContentLoss, StyleLoss, total_variation
from vgg import Normalization

CONTENT_LAYERS = ['conv_4']
STYLE_LAYERS = ['conv_1', 'conv_2', 'conv_3', 'conv_4', 'conv_5']


def get_style_model_and_losses(cnn, mean, std, style_img, content_img):
    normalization = Normalization(mean, std)
    content_losses, style_losses = [], []
    model = nn.Sequential(normalization)

    i = 0
    for layer in cnn.children():
        if isinstance(layer, nn.Conv2d):
            i += 1
            name = 'conv_{}'.format(i)
        elif isinstance(layer, nn.ReLU):
            name = 'relu_{}'.format(i)
            layer = nn.ReLU(inplace=False)
        elif isinstance(layer, nn.MaxPool2d):
            name = 'pool_{}'.format(i)
        else:
            raise RuntimeError('Unrecognized layer: {}'.format(layer.__class__.__name__))
        model.add_module(name, layer)

        if name in CONTENT_LAYERS:
            content_loss = ContentLoss(model(content_img).detach())
            model.add_module('content_loss_{}'.format(i), content_loss)
            content_losses.append(content_loss)
        if name in STYLE_LAYERS:
            style_loss = StyleLoss(model(style_img).detach())
            model.add_module('style_loss_{}'.format(i), style_loss)
            style_losses.append(style_loss)
    return model, style_losses, content_losses


def run_style_transfer(cnn, mean, std, content_img, style_img, input_img,
                       num_steps=10, style_weight=1e5, content_weight=1, tv_weight=1e-2):
    model, style_losses, content_losses = get_style_model_and_losses(
        cnn, mean, std, style_img, content_img)
    input_img.requires_grad_(True)
    model.eval()
    model.requires_grad_(False)

    optimizer = optim.LBFGS([input_img], max_iter=2)
    run = [0]
    while run[0] <= num_steps:

        def closure():
            optimizer.zero_grad()
            model(input_img)
            style_score = sum(sl.loss for sl in style_losses) * style_weight
            content_score = sum(cl.loss for cl in content_losses) * content_weight
            loss = style_score + content_score + tv_weight * total_variation(input_img)
            loss.backward()
            run[0] += 1
            if run[0] % 4 == 0:
                print('run {}: style {:.4f} content {:.4f}'.format(
                    run[0], style_score.item(), content_score.item()))
            return loss

        optimizer.step(closure)
        input_img.data.clamp_(0, 1)
    return input_img
