"""Tic-tac-toe on plain numpy boards (1: player to move, -1: the other one)."""
import numpy as np

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
ACTIONS = 9


def start():
    return np.zeros(ACTIONS, dtype=np.int8)


def legal(board):
    return np.flatnonzero(board == 0)


def play(board, move):
    nxt = -board
    nxt[move] = -1
    return nxt


def outcome(board):
    """None while the game goes on, else the value for the player to move."""
    for line in LINES:
        if board[list(line)].sum() == -3:
            return -1.0
    return 0.0 if (board != 0).all() else None


def encode(board):
    return np.stack([board == 1, board == -1]).astype(np.float32).reshape(-1)
