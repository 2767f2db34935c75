"""torchmetrics: metrics and functions of each field, updated and computed on `cuda`."""

import torch
from harness import devices, part

PROJECT = "Lightning-AI+torchmetrics"
PATHS = ["src"]
PRELOAD = ["numpy", "lightning_utilities", "scipy.optimize", "matplotlib.pyplot"]


def _run(metrics, *arguments):
    """Updates each metric twice and computes it; one that fails on the untouched project is left out by its name in the result."""
    told = []
    for metric in metrics:
        metric = metric.to("cuda")
        metric.update(*arguments)
        metric.update(*arguments)
        told.append(f"{type(metric).__name__} {devices(metric.compute())}")
        metric.reset()
        metric(*arguments)
    return told


@part
def classification():
    import torchmetrics.classification as c

    score, truth = torch.rand(12, device="cuda"), torch.randint(0, 2, (12,), device="cuda")
    names = (
        "Accuracy AUROC AveragePrecision CalibrationError CohenKappa ConfusionMatrix F1Score HammingDistance HingeLoss JaccardIndex "
        "MatthewsCorrCoef PrecisionRecallCurve ROC StatScores Specificity"
    ).split()
    told = _run([getattr(c, "Binary" + name)() for name in names], score, truth)
    told += _run(
        [
            c.BinaryPrecisionRecallCurve(thresholds=5),
            c.BinaryROC(thresholds=5),
            c.BinaryAUROC(thresholds=4, max_fpr=0.5),
            c.BinaryAveragePrecision(thresholds=4),
            c.BinaryRecallAtFixedPrecision(0.3, thresholds=5),
            c.BinaryPrecisionAtFixedRecall(0.3),
            c.BinarySensitivityAtSpecificity(0.3),
            c.BinaryEER(),
        ],
        score,
        truth,
    )
    told += _run(
        [c.BinaryGroupStatRates(2), c.BinaryFairness(2)], score, truth, torch.randint(0, 2, (12,), device="cuda")
    )
    return told


@part
def multiclass():
    import torchmetrics.classification as c

    score, truth = torch.rand(12, 3, device="cuda").softmax(1), torch.arange(12, device="cuda") % 3
    names = (
        "Accuracy AUROC AveragePrecision CalibrationError CohenKappa ConfusionMatrix ExactMatch F1Score HammingDistance HingeLoss "
        "JaccardIndex MatthewsCorrCoef PrecisionRecallCurve ROC StatScores"
    ).split()
    told = _run(
        [getattr(c, "Multiclass" + name)(num_classes=3) for name in names if name != "ExactMatch"], score, truth
    )
    told += _run(
        [
            c.MulticlassPrecisionRecallCurve(3, thresholds=5),
            c.MulticlassROC(3, thresholds=5, average="macro"),
            c.MulticlassPrecisionRecallCurve(3, average="macro"),
            c.MulticlassAccuracy(3, top_k=2, ignore_index=0),
            c.MulticlassRecallAtFixedPrecision(3, 0.3, thresholds=5),
            c.MulticlassROC(3, average="micro"),
        ],
        score,
        truth,
    )
    told += _run(
        [c.MulticlassExactMatch(3)],
        torch.randint(0, 3, (4, 5), device="cuda"),
        torch.randint(0, 3, (4, 5), device="cuda"),
    )
    return told


@part
def multilabel():
    import torchmetrics.classification as c

    score, truth = torch.rand(12, 3, device="cuda"), torch.randint(0, 2, (12, 3), device="cuda")
    names = (
        "Accuracy AUROC AveragePrecision ConfusionMatrix CoverageError ExactMatch F1Score HammingDistance JaccardIndex MatthewsCorrCoef "
        "PrecisionRecallCurve ROC RankingAveragePrecision RankingLoss StatScores"
    ).split()
    told = _run([getattr(c, "Multilabel" + name)(num_labels=3) for name in names], score, truth)
    return told + _run(
        [c.MultilabelPrecisionRecallCurve(3, thresholds=5, ignore_index=0), c.MultilabelROC(3, thresholds=5)],
        score,
        truth,
    )


@part
def regression():
    import torchmetrics.regression as r

    a, b = torch.rand(12, device="cuda") + 0.1, torch.rand(12, device="cuda") + 0.1
    names = (
        "ConcordanceCorrCoef ExplainedVariance LogCoshError MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError "
        "MeanSquaredLogError MinkowskiDistance PearsonCorrCoef R2Score RelativeSquaredError SpearmanCorrCoef "
        "SymmetricMeanAbsolutePercentageError TweedieDevianceScore WeightedMeanAbsolutePercentageError"
    ).split()
    told = _run([getattr(r, name)(3) if name == "MinkowskiDistance" else getattr(r, name)() for name in names], a, b)
    told += _run([r.KendallRankCorrCoef(variant=v, t_test=True, alternative="two-sided") for v in "abc"], a, b)
    told += _run([r.TweedieDevianceScore(power=p) for p in (1, 2, 1.5, 3)], a, b)
    wide = torch.rand(6, 3, device="cuda")
    told += _run(
        [
            r.KendallRankCorrCoef(num_outputs=3),
            r.PearsonCorrCoef(num_outputs=3),
            r.SpearmanCorrCoef(num_outputs=3),
            r.CosineSimilarity(),
            r.KLDivergence(),
            r.CriticalSuccessIndex(0.5),
        ],
        wide.softmax(1),
        wide.flip(0).softmax(1),
    )
    return told


@part
def retrieval():
    import torchmetrics.retrieval as r

    score, truth, index = (
        torch.rand(12, device="cuda"),
        torch.arange(12, device="cuda") % 2,
        torch.arange(12, device="cuda") // 4,
    )
    names = "AUROC FallOut HitRate MAP MRR NormalizedDCG Precision PrecisionRecallCurve RPrecision Recall RecallAtFixedPrecision".split()
    told = _run([getattr(r, "Retrieval" + name)() for name in names], score, truth, index)
    return told + _run(
        [
            r.RetrievalPrecisionRecallCurve(max_k=6, adaptive_k=True),
            r.RetrievalMAP(empty_target_action="pos"),
            r.RetrievalFallOut(top_k=2),
        ],
        score,
        torch.zeros_like(truth),
        index,
    )


@part
def images():
    import torchmetrics.image as i

    a, b = torch.rand(2, 3, 48, 48, device="cuda"), torch.rand(2, 3, 48, 48, device="cuda")
    made = [
        i.PeakSignalNoiseRatio(data_range=1.0),
        i.PeakSignalNoiseRatio(data_range=(0.0, 1.0), dim=(1, 2, 3), reduction="none"),
        i.StructuralSimilarityIndexMeasure(data_range=1.0),
        i.UniversalImageQualityIndex(),
        i.SpectralAngleMapper(),
        i.ErrorRelativeGlobalDimensionlessSynthesis(),
        i.RelativeAverageSpectralError(),
        i.RootMeanSquaredErrorUsingSlidingWindow(),
        i.SpatialCorrelationCoefficient(),
        i.VisualInformationFidelity(),
        i.SpectralDistortionIndex(),
    ]
    told = _run(made, a, b)
    told += _run(
        [i.StructuralSimilarityIndexMeasure(data_range=1.0, gaussian_kernel=False, return_full_image=True)], a, b
    )
    told += _run([i.TotalVariation()], a)
    big = torch.rand(1, 1, 180, 180, device="cuda")
    told += _run([i.MultiScaleStructuralSimilarityIndexMeasure(data_range=1.0)], big, big * 0.9)
    from torchmetrics.functional.image import image_gradients

    return told + devices(image_gradients(a))


@part
def clustering():
    import torchmetrics.clustering as c

    a, b = torch.randint(0, 3, (20,), device="cuda"), torch.randint(0, 3, (20,), device="cuda")
    told = _run(
        [
            getattr(c, name)()
            for name in (
                "AdjustedMutualInfoScore",
                "AdjustedRandScore",
                "CompletenessScore",
                "FowlkesMallowsIndex",
                "HomogeneityScore",
                "MutualInfoScore",
                "NormalizedMutualInfoScore",
                "RandScore",
                "VMeasureScore",
            )
        ],
        a,
        b,
    )
    points = torch.rand(20, 4, device="cuda")
    return told + _run(
        [c.CalinskiHarabaszScore(), c.DaviesBouldinScore(), c.DunnIndex()], points, torch.arange(20, device="cuda") % 3
    )


@part
def nominal():
    import torchmetrics.nominal as n

    a, b = torch.randint(0, 3, (30,), device="cuda"), torch.randint(0, 3, (30,), device="cuda")
    told = _run(
        [
            n.CramersV(3),
            n.PearsonsContingencyCoefficient(3),
            n.TheilsU(3),
            n.TschuprowsT(3),
            n.CramersV(3, bias_correction=False),
        ],
        a,
        b,
    )
    return told + _run([n.FleissKappa(mode="counts")], torch.randint(0, 5, (6, 3), device="cuda"))


@part
def detection():
    from torchmetrics.detection import ModifiedPanopticQuality, PanopticQuality

    a = torch.stack([torch.randint(0, 3, (2, 6, 6), device="cuda"), torch.randint(0, 2, (2, 6, 6), device="cuda")], -1)
    return _run(
        [PanopticQuality(things={0, 1}, stuffs={2}), ModifiedPanopticQuality(things={0, 1}, stuffs={2})], a, a.flip(0)
    )


@part
def segmentation():
    from torchmetrics.functional.segmentation.utils import (
        binary_erosion,
        distance_transform,
        mask_edges,
        surface_distance,
    )
    from torchmetrics.segmentation import DiceScore, GeneralizedDiceScore, HausdorffDistance, MeanIoU

    a, b = torch.randint(0, 2, (2, 3, 8, 8), device="cuda"), torch.randint(0, 2, (2, 3, 8, 8), device="cuda")
    told = _run(
        [
            DiceScore(num_classes=3),
            GeneralizedDiceScore(num_classes=3),
            MeanIoU(num_classes=3),
            MeanIoU(num_classes=3, per_class=True),
            HausdorffDistance(num_classes=3),
        ],
        a,
        b,
    )
    x = a[0, 0].bool()
    told += devices(
        distance_transform(a[0, 0]),
        binary_erosion(a[:1, :1]),
        mask_edges(x, b[0, 0].bool()),
        mask_edges(x, b[0, 0].bool(), crop=False, spacing=(1, 1)),
    )
    distance_transform(a[0, 0].float(), metric="chessboard")
    distance_transform(a[0, 0].float(), engine="scipy")
    return told + devices(surface_distance(x, b[0, 0].bool(), spacing=[1, 1]))


@part
def audio():
    import torchmetrics.audio as u
    from torchmetrics.functional.audio import (
        permutation_invariant_training,
        pit_permutate,
        scale_invariant_signal_distortion_ratio,
    )

    a, b = torch.rand(2, 800, device="cuda"), torch.rand(2, 800, device="cuda")
    told = _run(
        [
            u.ScaleInvariantSignalDistortionRatio(),
            u.SignalNoiseRatio(),
            u.SignalDistortionRatio(filter_length=16),
            u.ScaleInvariantSignalNoiseRatio(),
        ],
        a,
        b,
    )
    for speakers in (2, 4):
        x, y = torch.rand(2, speakers, 50, device="cuda"), torch.rand(2, speakers, 50, device="cuda")
        best, order = permutation_invariant_training(x, y, scale_invariant_signal_distortion_ratio)
        told += devices(best, pit_permutate(x, order))
    return told


@part
def text():
    import torchmetrics.text as t

    told = _run(
        [
            t.BLEUScore(),
            t.CharErrorRate(),
            t.WordErrorRate(),
            t.MatchErrorRate(),
            t.WordInfoLost(),
            t.CHRFScore(),
            t.EditDistance(),
            t.TranslationEditRate(),
        ],
        ["a cat sat"],
        ["the cat sat"],
    )
    return told + _run(
        [t.Perplexity(ignore_index=0)], torch.rand(2, 5, 7, device="cuda"), torch.randint(1, 7, (2, 5), device="cuda")
    )


@part
def wrappers():
    import torchmetrics
    from torchmetrics.wrappers import BootStrapper, MinMaxMetric, MultioutputWrapper, Running

    a, b = torch.rand(8, 2, device="cuda"), torch.rand(8, 2, device="cuda")
    told = _run([MultioutputWrapper(torchmetrics.MeanSquaredError(), 2)], a, b)
    x, y = a[:, 0].contiguous(), b[:, 0].contiguous()
    told += _run(
        [
            MinMaxMetric(torchmetrics.MeanSquaredError()),
            Running(torchmetrics.MeanSquaredError(), window=2),
            BootStrapper(torchmetrics.MeanSquaredError(), num_bootstraps=3, quantile=0.5, raw=True),
        ],
        x,
        y,
    )
    told += _run(
        [
            torchmetrics.MeanMetric(),
            torchmetrics.SumMetric(),
            torchmetrics.MaxMetric(),
            torchmetrics.CatMetric(),
            torchmetrics.MeanMetric(nan_strategy=0.0),
        ],
        torch.tensor([1.0, float("nan")], device="cuda"),
    )
    collection = torchmetrics.MetricCollection([torchmetrics.MeanSquaredError(), torchmetrics.MeanAbsoluteError()])
    return told + _run([collection], x, y)


@part
def pairwise():
    import torchmetrics.functional.pairwise as p

    x, y = torch.rand(4, 3, device="cuda"), torch.rand(5, 3, device="cuda")
    names = ("cosine_similarity", "euclidean_distance", "linear_similarity", "manhattan_distance")
    return devices(
        *(getattr(p, "pairwise_" + name)(x, y) for name in names),
        p.pairwise_minkowski_distance(x, y, exponent=3),
        *(getattr(p, "pairwise_" + name)(x) for name in names),
    )


@part
def moves():
    import torchmetrics

    metric = torchmetrics.classification.BinaryAUROC().to("cuda")
    metric.update(torch.rand(4, device="cuda"), torch.randint(0, 2, (4,), device="cuda"))
    metric.plot()
    metric.to("cpu")
    metric.cuda()
    return devices(metric.metric_state)
