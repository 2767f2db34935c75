from .convnet import LinearClassifier, SupConConvNet
