import torch.nn as nn


class ResidualBlock(nn.Module):
    def __init__(self, width, p=0.1):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, width * 2)
        self.fc2 = nn.Linear(width * 2, width)
        self.act = nn.GELU()
        self.drop = nn.Dropout(p)

    def forward(self, x):
        return x + self.drop(self.fc2(self.act(self.fc1(self.norm(x)))))


class MLP(nn.Module):
    def __init__(self, in_dim, width, depth, num_classes):
        super().__init__()
        self.stem = nn.Linear(in_dim, width)
        self.blocks = nn.Sequential(*[ResidualBlock(width) for _ in range(depth)])
        self.head = nn.Linear(width, num_classes)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


def build_teacher(cfg):
    return MLP(cfg.input_dim, cfg.teacher_width, 3, cfg.num_classes)


def build_student(cfg):
    return MLP(cfg.input_dim, cfg.student_width, 1, cfg.num_classes)
