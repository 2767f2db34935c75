shapes_cfg = {
    'num_classes': 4,
    'min_dim': 32,
    'feature_maps': [8, 4],
    'scales': [0.2, 0.4],
    'aspect_ratios': [[2], [2]],
    'variance': [0.1, 0.2],
    'clip': True,
    'lr_steps': (8, 12),
}
