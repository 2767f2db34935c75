"""Fit a torus and compare raw and averaged weights."""
import sys
import tempfile

import torch

from sdf import EMA, FourierSDF, MeshStats, SDFSamples, Snapshot, Trainer


def main(epochs: int = 3) -> None:
    torch.manual_seed(0)
    data = SDFSamples(n=768)
    model = FourierSDF()
    stats = MeshStats()
    with tempfile.TemporaryDirectory() as tmp:
        trainer = Trainer(model, callbacks=[EMA(model), stats, Snapshot(tmp)])
        trainer.fit(data, epochs=epochs, batch_size=96)
        for row in stats.rows:
            print(row)

        # reload on the CPU as a consumer of the library would
        ckpt = torch.load(f"{tmp}/best.pt", map_location="cpu")
        fresh = FourierSDF()
        fresh.load_state_dict(ckpt["state"])
        probe = data.points[:5]
        print("step", ckpt["step"], "error", round(ckpt["err"], 4), fresh(probe).detach().numpy().round(3))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
