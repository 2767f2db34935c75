from .layers import ExU, FeatureNet
from .model import NeuralAdditiveModel
from .data import credit_data

__all__ = ['ExU', 'FeatureNet', 'NeuralAdditiveModel', 'credit_data']
