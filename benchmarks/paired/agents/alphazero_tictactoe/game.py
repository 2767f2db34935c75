import numpy as np

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class TicTacToe:
    """Boards are int8 arrays of length 9, always seen from the player to move (+1 = own stone)."""

    n_actions = 9

    @staticmethod
    def start():
        return np.zeros(9, dtype=np.int8)

    @staticmethod
    def legal(board):
        return board == 0

    @staticmethod
    def play(board, action):
        nxt = board.copy()
        nxt[action] = 1
        return -nxt

    @staticmethod
    def outcome(board):
        """None while the game goes on, else the result for the player to move."""
        for a, b, c in LINES:
            s = int(board[a]) + int(board[b]) + int(board[c])
            if s == 3:
                return 1.0
            if s == -3:
                return -1.0
        return 0.0 if not (board == 0).any() else None

    @staticmethod
    def planes(board):
        return np.stack([board == 1, board == -1]).astype(np.float32).reshape(2, 3, 3)

    @staticmethod
    def symmetries(planes, pi):
        grid = pi.reshape(3, 3)
        for k in range(4):
            p, g = np.rot90(planes, k, axes=(1, 2)), np.rot90(grid, k)
            yield p.copy(), g.reshape(-1).copy()
            yield p[:, :, ::-1].copy(), g[:, ::-1].reshape(-1).copy()
