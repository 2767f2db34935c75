import argparse

import torch

from llama import Generator, ModelArgs, Transformer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--top_p", type=float, default=0.9)
    parser.add_argument("--max_gen_len", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    opt = parser.parse_args()

    torch.manual_seed(opt.seed)
    device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    model = Transformer(ModelArgs()).to(device)
    print(f"{sum(p.numel() for p in model.parameters()) / 1e3:.1f}k parameters on {device.type}")

    generator = Generator(model)
    prompts = [[5, 6, 7, 8], [12, 13, 14, 15, 16, 17], [20, 21, 22, 23, 24]]
    for prompt, result in zip(prompts, generator.generate(prompts, opt.max_gen_len, opt.temperature, opt.top_p)):
        print(prompt, "=>", result[len(prompt):])


if __name__ == "__main__":
    main()
