from .calibration import ece, fit_temperature, retention_curve

__all__ = ["ece", "fit_temperature", "retention_curve"]
