from models.convnet import SmallConvNet, count_parameters
