import argparse

import pandas as pd
import torch

import cases  # noqa: F401
from bench.inputs import clear_pool, pool_size
from bench.registry import select
from bench.runner import Runner


def available_devices(names):
    if names:
        return [torch.device(n) for n in names]
    devices = [torch.device("cpu")]
    devices += [torch.device("cuda", i) for i in range(torch.cuda.device_count())]
    return devices


def main():
    parser = argparse.ArgumentParser(description="Compare building blocks across devices")
    parser.add_argument("-k", "--pattern", default="")
    parser.add_argument("--tag")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--devices", nargs="*")
    args = parser.parse_args()

    runner = Runner(args.repeats)
    rows = [runner.run(case, dev) for dev in available_devices(args.devices) for case in select(args.pattern, args.tag)]
    table = pd.DataFrame(rows).set_index(["case", "device"]).sort_index()
    print(table.round({"kmac": 1, "fwd_us": 1, "bwd_us": 1, "error": 7}).to_string())
    print("input pool: %.1f kB" % (pool_size() / 1024))
    clear_pool()
    worst = table["error"].max()
    if worst > 1e-2:
        raise SystemExit("devices disagree: %.3g" % worst)


if __name__ == "__main__":
    main()
