import itertools
import os
import tempfile

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Subset

import losses  # noqa: F401
import nets  # noqa: F401
from registry import LOSSES, NETS
from scenes import BitemporalTiles


class Runner:
    def __init__(self, s):
        self.s = s
        self.device = torch.device(s["device"])
        scene = dict(s["scene"])
        n_lab = scene.pop("labelled")
        tiles = BitemporalTiles(seed=s["seed"], **scene)
        order = torch.randperm(len(tiles), generator=torch.Generator().manual_seed(s["seed"])).tolist()
        batch = s["train"]["batch"]
        self.labelled = DataLoader(Subset(tiles, order[:n_lab]), batch, shuffle=True)
        self.unlabelled = DataLoader(Subset(tiles, order[n_lab:]), batch, shuffle=True)
        scene["tiles"] = 4
        self.val = DataLoader(BitemporalTiles(seed=s["seed"] + 1, **scene), batch)

        self.net = NETS.build(s["net"], bands=scene["bands"]).to(self.device)
        self.pseudo = LOSSES.build(s["loss"], embed=s["net"]["embed"])
        self.optim = torch.optim.Adam(self.net.parameters(), lr=s["train"]["lr"])
        self.class_weight = torch.tensor([0.3, 0.7]).to(self.device)

    def _to_device(self, batch):
        return [t.to(self.device) for t in batch]

    def train_epoch(self):
        self.net.train()
        sup_total = semi_total = 0.0
        pairs = zip(itertools.cycle(self.labelled), self.unlabelled)
        for n, (lab, unlab) in enumerate(pairs, 1):
            before, after, mask = self._to_device(lab)
            logits, feats = self.net(before, after)
            sup = F.cross_entropy(logits, mask, weight=self.class_weight)
            self.pseudo.update(feats.detach(), mask)

            before, after, _ = self._to_device(unlab)
            semi = self.pseudo(*self.net(before, after))
            self.optim.zero_grad()
            (sup + semi).backward()
            self.optim.step()
            sup_total += sup.item()
            semi_total += semi.item()
        return sup_total / n, semi_total / n

    @torch.no_grad()
    def validate(self):
        self.net.eval()
        confusion = torch.zeros(2, 2, dtype=torch.long)
        for before, after, mask in self.val:
            logits, _ = self.net(before.to(self.device), after.to(self.device))
            pred = logits.argmax(1).cpu()
            confusion += torch.bincount((mask * 2 + pred).flatten(), minlength=4).view(2, 2)
        tp, fp, fn = confusion[1, 1].item(), confusion[0, 1].item(), confusion[1, 0].item()
        return tp / max(tp + fp + fn, 1)

    def run(self):
        out = os.path.join(tempfile.mkdtemp(prefix="change_"), "run.pt")
        for epoch in range(self.s["train"]["epochs"]):
            sup, semi = self.train_epoch()
            iou = self.validate()
            print(f"epoch {epoch} supervised {sup:.4f} pseudo {semi:.4f} "
                  f"kept {self.pseudo.kept:.2f} val IoU {iou:.4f}")
            torch.save({"net": self.net.state_dict(), "pseudo": self.pseudo.state_dict(), "s": self.s}, out)
        a, b = torch.load(out, map_location="cpu")["pseudo"]["prototypes"]
        print("prototype similarity %.3f" % torch.dot(a, b).item())
