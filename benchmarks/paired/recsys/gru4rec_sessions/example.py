import argparse

import numpy as np

from gru4rec import SessionRecommender


def simulate(num_sessions, num_items, seed):
    rng = np.random.default_rng(seed)
    sessions = {}
    for s in range(num_sessions):
        item = int(rng.integers(1, num_items + 1))
        seq = [item]
        for _ in range(int(rng.integers(2, 9))):
            jump = rng.random() < 0.2
            item = int(rng.integers(1, num_items + 1)) if jump else item % num_items + 1
            seq.append(item)
        sessions[f"s{s:05d}"] = seq
    return sessions


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--items", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--loss", default="bpr-max", choices=["xent", "bpr-max"])
    args = parser.parse_args()

    data = simulate(args.sessions, args.items, seed=5)
    keys = list(data)
    split = int(len(keys) * 0.8)
    rec = SessionRecommender(args.items, loss=args.loss, epochs=args.epochs)
    rec.fit({k: data[k] for k in keys[:split]})
    print("loss per epoch:", [round(v, 3) for v in rec.history_])
    held = {k: data[k] for k in keys[split:]}
    print(rec.evaluate(held))
    for sid, items in list(rec.recommend(held, k=3).items())[:3]:
        print(sid, data[sid][:-1], "->", items)
