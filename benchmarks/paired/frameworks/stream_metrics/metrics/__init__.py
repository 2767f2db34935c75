from .base import Metric, MetricGroup
from .segmentation import ConfusionMetric, MeanIoU, PixelAccuracy
from .calibration import ReliabilityBins

REGISTRY = {
    "miou": MeanIoU,
    "pixel_accuracy": PixelAccuracy,
    "reliability": ReliabilityBins,
}


def build(specs, num_classes):
    """specs: list of {"name": ..., **options} as read from the configuration."""
    out = {}
    for spec in specs:
        options = dict(spec)
        name = options.pop("name")
        out[name] = REGISTRY[name](num_classes=num_classes, **options)
    return MetricGroup(out)
