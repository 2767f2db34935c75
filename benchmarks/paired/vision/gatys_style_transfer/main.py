import torch

from transfer import run_style_transfer
from vgg import make_features

device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
imsize = 32


def content_image():
    img = torch.full((1, 3, imsize, imsize), 0.2)
    img[:, 0, 8:24, 8:24] = 0.9
    img[:, 2, 4:12, 16:28] = 0.6
    return img.to(device, torch.float)


def style_image():
    ramp = torch.linspace(0, 12.0, imsize)
    waves = 0.5 + 0.5 * torch.sin(ramp.view(-1, 1) + 2 * ramp.view(1, -1))
    img = torch.stack([waves, waves.t(), 1 - waves])
    return img.unsqueeze(0).to(device, torch.float)


def main():
    content_img, style_img = content_image(), style_image()
    assert style_img.size() == content_img.size(), \
        'we need to import style and content images of the same size'

    cnn = make_features().to(device).eval()
    cnn_normalization_mean = torch.tensor([0.485, 0.456, 0.406]).to(device)
    cnn_normalization_std = torch.tensor([0.229, 0.224, 0.225]).to(device)

    output = run_style_transfer(cnn, cnn_normalization_mean, cnn_normalization_std,
                                content_img, style_img, content_img.clone())
    image = output.detach().cpu().squeeze(0)
    print('output range {:.3f} .. {:.3f}'.format(image.min().item(), image.max().item()))


if __name__ == '__main__':
    main()
