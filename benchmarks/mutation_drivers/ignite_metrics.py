"""ignite: its metrics, updated and computed on `cuda`, and a supervised trainer."""

from harness import part

PROJECT = "pytorch+ignite"
PATHS = ["."]
PRELOAD = ["numpy", "scipy", "sklearn.metrics", "torch.distributed"]


@part
def metrics_directly():
    import ignite.metrics as metrics
    import torch

    torch.manual_seed(0)
    device = torch.device("cuda")
    probabilities = torch.softmax(torch.randn(8, 3, device=device), 1)
    labels = torch.randint(0, 3, (8,), device=device)
    binary, truth = torch.randint(0, 2, (8,), device=device), torch.randint(0, 2, (8,), device=device)
    score = torch.rand(8, device=device)
    images = torch.rand(2, 3, 16, 16, device=device)
    made = [
        (metrics.Accuracy(device=device), probabilities, labels),
        (metrics.TopKCategoricalAccuracy(k=2, device=device), probabilities, labels),
        (metrics.ConfusionMatrix(3, device=device), probabilities, labels),
        (metrics.CohenKappa(device=device), binary, truth),
        (metrics.SSIM(data_range=1.0, device=device), images, images * 0.9),
        (metrics.PSNR(data_range=1.0, device=device), images, images * 0.9),
        (metrics.ROC_AUC(device=device), score, truth),
        (metrics.RocCurve(device=device), score, truth),
        (metrics.PrecisionRecallCurve(device=device), score, truth),
        (metrics.AveragePrecision(device=device), score, truth),
        (metrics.Precision(average=True, device=device), probabilities, labels),
        (metrics.Recall(average="macro", device=device), probabilities, labels),
        (metrics.MeanSquaredError(device=device), score, truth.float()),
        (metrics.MeanPairwiseDistance(device=device), probabilities, probabilities * 0.5),
        (metrics.Entropy(device=device), torch.randn(8, 3, device=device), labels),
        (metrics.MaximumMeanDiscrepancy(device=device), probabilities, probabilities * 0.5),
        (metrics.HSIC(device=device), probabilities, probabilities * 0.5),
        (metrics.CosineSimilarity(device=device), probabilities, probabilities * 0.5),
        (
            metrics.MultiLabelConfusionMatrix(3, device=device),
            torch.randint(0, 2, (8, 3), device=device),
            torch.randint(0, 2, (8, 3), device=device),
        ),
    ]
    for metric, first, second in made:
        metric.reset()
        metric.update((first, second))
        metric.update((first, second))
        metric.compute()


@part
def more_metrics():
    import torch
    from ignite.metrics import FID, InceptionScore
    from ignite.metrics.regression import (
        CanberraMetric,
        KendallRankCorrelation,
        MedianAbsoluteError,
        PearsonCorrelation,
        R2Score,
        SpearmanRankCorrelation,
        WaveHedgesDistance,
    )

    device = torch.device("cuda")
    a, b = torch.rand(12, device=device), torch.rand(12, device=device)
    for kind in (
        CanberraMetric,
        KendallRankCorrelation,
        MedianAbsoluteError,
        PearsonCorrelation,
        R2Score,
        SpearmanRankCorrelation,
        WaveHedgesDistance,
    ):
        metric = kind(device=device)
        metric.update((a, b))
        metric.update((b, a))
        metric.compute()
    net = torch.nn.Linear(4, 3).to(device)
    fid = FID(num_features=3, feature_extractor=net, device=device)
    fid.update((torch.rand(6, 4, device=device), torch.rand(6, 4, device=device)))
    fid.compute()
    score = InceptionScore(
        num_features=3, feature_extractor=torch.nn.Sequential(net, torch.nn.Softmax(1)), device=device
    )
    score.update(torch.rand(6, 4, device=device))
    score.compute()


@part
def text_and_ranks():
    import torch
    from ignite.metrics import Bleu, Rouge
    from ignite.metrics.rec_sys import NDCG, HitRate

    device = torch.device("cuda")
    for metric in (Bleu(ngram=2, device=device), Bleu(ngram=2, average="micro", device=device), Rouge(device=device)):
        metric.update((["a cat sat on it".split()], [["the cat sat on it".split()]]))
        metric.compute()
    for kind in (NDCG, HitRate):
        metric = kind(top_k=[1, 2], device=device)
        metric.update((torch.rand(3, 5, device=device), torch.randint(0, 2, (3, 5), device=device)))
        metric.compute()


@part
def engines():
    import torch
    from ignite.engine import create_supervised_evaluator, create_supervised_trainer
    from ignite.metrics import Accuracy, Loss, RunningAverage

    net = torch.nn.Linear(4, 3).to("cuda")
    data = [(torch.rand(5, 4), torch.randint(0, 3, (5,))) for _ in range(2)]
    trainer = create_supervised_trainer(
        net, torch.optim.SGD(net.parameters(), 0.1), torch.nn.functional.cross_entropy, device="cuda"
    )
    RunningAverage(output_transform=lambda loss: loss, device="cuda").attach(trainer, "loss")
    trainer.run(data, max_epochs=1)
    evaluator = create_supervised_evaluator(
        net,
        {"accuracy": Accuracy(device="cuda"), "loss": Loss(torch.nn.functional.cross_entropy, device="cuda")},
        device="cuda",
    )
    evaluator.run(data)
