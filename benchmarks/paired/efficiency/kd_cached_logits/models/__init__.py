from .mlp import build_student, build_teacher

__all__ = ["build_student", "build_teacher"]
