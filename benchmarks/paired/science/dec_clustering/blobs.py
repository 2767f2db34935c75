import click
import torch
from sklearn.datasets import make_blobs
from sklearn.preprocessing import scale
from torch.utils.data import TensorDataset

from dec.autoencoder import AutoEncoder
from dec.cluster import DEC
from dec.training import pretrain, train


@click.command()
@click.option('--cuda/--no-cuda', default=None, help='whether to use CUDA (default: if available).')
@click.option('--batch-size', default=50, type=int)
@click.option('--pretrain-epochs', default=3, type=int)
@click.option('--finetune-epochs', default=2, type=int)
@click.option('--clusters', default=4, type=int)
def main(cuda, batch_size, pretrain_epochs, finetune_epochs, clusters):
    if cuda is None:
        cuda = torch.cuda.is_available()
    torch.manual_seed(0)
    x, y = make_blobs(200, n_features=12, centers=clusters, cluster_std=3.0, random_state=1)
    ds = TensorDataset(torch.tensor(scale(x), dtype=torch.float), torch.tensor(y))

    autoencoder = AutoEncoder([12, 16, 4])
    if cuda:
        autoencoder.cuda()
    pretrain(autoencoder, ds, pretrain_epochs, batch_size, cuda)

    model = DEC(clusters, 4, autoencoder.encoder)
    if cuda:
        model.cuda()
    train(ds, model, finetune_epochs, batch_size, cuda)


if __name__ == '__main__':
    main()
