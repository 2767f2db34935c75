import torch
from sklearn.isotonic import isotonic_regression


def project_monotone(model) -> None:
    """Euclidean projection of the calibration curves onto the monotone cone."""
    heights = model.calibrators.heights
    curves = heights.detach().cpu().numpy()
    for row, direction in zip(curves, model.directions):
        if direction != 0:
            row[:] = isotonic_regression(row, increasing=direction > 0)
    heights.data.copy_(torch.from_numpy(curves))
