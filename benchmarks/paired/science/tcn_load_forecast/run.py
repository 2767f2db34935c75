import argparse
import os
import tempfile

from loadcast.config import load_config
from loadcast.data import build_frames
from loadcast.engine import Engine
from loadcast.forecast import Forecaster


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "config.yaml"))
    ap.add_argument("--workdir", default=None)
    args = ap.parse_args()

    cfg = load_config(args.config)
    train_df, test_df = build_frames(cfg)

    with tempfile.TemporaryDirectory() as tmp:
        ckpt = os.path.join(args.workdir or tmp, "best.pt")
        Engine(cfg).fit(train_df, ckpt)

        forecaster = Forecaster.from_checkpoint(ckpt)
        report = forecaster.backtest(test_df)
    print(report.round(2).to_string())


if __name__ == "__main__":
    main()
