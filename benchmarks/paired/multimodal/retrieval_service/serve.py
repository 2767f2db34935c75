import argparse
import json

import torch

from embedder import DualEncoder
from index import FlatIndex


def synthetic_gallery(n, generator):
    return [f"img_{i:04d}" for i in range(n)], torch.rand(n, 3, 8, 8, generator=generator)


def parse():
    p = argparse.ArgumentParser(description="in-memory text-to-image retrieval")
    p.add_argument("--gallery", type=int, default=300)
    p.add_argument("--topk", type=int, default=4)
    p.add_argument("--takedown", type=int, default=2, help="hits to remove for every query")
    p.add_argument("--cpu", action="store_true")
    return p.parse_args()


class Service:
    def __init__(self, model, index):
        self.model = model
        self.index = index
        self.log = []

    def ingest(self, names, images):
        self.index.add(names, self.model.encode_images(images))

    def query(self, token_lists, k):
        emb = self.model.encode_text(token_lists)
        scores, rows = self.index.search(emb, k)
        self.log.append(scores.mean().item())
        return self.index.names(rows)

    def takedown(self, results, per_query):
        victims = sorted({name for row in results for name in row[:per_query]})
        removed = self.index.remove(victims)
        return victims, removed


def main():
    args = parse()
    torch.manual_seed(3)
    gen = torch.Generator().manual_seed(5)
    device = "cuda" if torch.cuda.is_available() and not args.cpu else "cpu"

    model = DualEncoder().to(device).eval()
    service = Service(model, FlatIndex(model.dim, device))
    service.ingest(*synthetic_gallery(args.gallery, gen))

    queries = [[4, 8, 15], [16, 23], [42, 7, 1, 3]]
    before = service.query(queries, args.topk)
    victims, removed = service.takedown(before, args.takedown)
    after = service.query(queries, args.topk)

    leaked = sum(name in set(victims) for row in after for name in row)
    report = {
        "before": before,
        "after": after,
        "removed": removed,
        "size": len(service.index),
        "leaked": leaked,
        "first_changed": [a[0] != b[0] for a, b in zip(before, after)],
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
