from imputer.trainer import ImputationTrainer
