import argparse

import numpy as np
import torch
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from fold import FoldRunner
from tabular import TableEncoder, make_transactions


def get_args():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=1500)
    ap.add_argument("--folds", type=int, default=5)
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--batch-size", type=int, default=128)
    ap.add_argument("--gamma", type=float, default=1.5)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--cpu", action="store_true")
    return ap.parse_args()


def main():
    args = get_args()
    torch.manual_seed(0)
    device = torch.device("cpu" if args.cpu or not torch.cuda.is_available() else "cuda")
    df = make_transactions(args.rows)
    encoder = TableEncoder(["amount", "age_days"], ["hour", "merchant", "country"])

    oof = np.zeros(len(df))
    folds = StratifiedKFold(args.folds, shuffle=True, random_state=0)
    for k, (tr, va) in enumerate(folds.split(df, df.fraud)):
        print(f"fold {k}")
        _, oof[va] = FoldRunner(encoder, args, device).run(df.iloc[tr], df.iloc[va])
    calibrated = IsotonicRegression(out_of_bounds="clip").fit_transform(oof, df.fraud)
    print(f"out of fold AUC {roc_auc_score(df.fraud, oof):.4f}  "
          f"brier {brier_score_loss(df.fraud, oof):.4f} -> {brier_score_loss(df.fraud, calibrated):.4f}")


if __name__ == "__main__":
    main()
