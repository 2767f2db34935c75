"""Which torch the requirements of a project rule out."""

from __future__ import annotations

import pytest

from torchdevlint.program.requirements import Version, commanded, first_torch_beyond, listed, oldest_torch


@pytest.mark.parametrize(
    ("name", "text", "beyond"),
    [
        ("requirements.txt", "numpy\ntorch==1.9.0\ntorchvision==0.10\n", (1, 10)),
        ("requirements.txt", "torch == 1.8.0  # as in the paper\n", (1, 9)),
        ("requirements.txt", "torch>=1.7,<2.4\n", (2, 4)),
        ("requirements.txt", "torch<=2.3.1\n", (2, 4)),
        ("requirements.txt", "torch<2.4.1\n", (2, 5)),
        ("requirements.txt", "torch~=2.1.0\n", (2, 2)),
        ("requirements.txt", "torch~=2.1\n", (3, 0)),
        ("requirements.txt", "torch>=1.7.0,!=1.12.0\n", None),
        ("requirements.txt", "torch\n", None),
        ("requirements.txt", "torch==1.9.0\ntorch>=1.9\n", None),
        ("requirements.txt", "torchvision==0.10\npytorch-lightning==1.0\n", None),
        ("environment.yml", "channels:\n  - pytorch\ndependencies:\n  - pytorch=1.9=py3.7_cuda11_0\n", (1, 10)),
        ("cog.yaml", 'build:\n  python_packages:\n    - "torch==1.7.1"\n    - "torchvision==0.8.2"\n', (1, 8)),
        ("environment.yaml", "dependencies:\n  - pytorch::pytorch=2.5\n", (2, 6)),
        ("setup.py", 'setup(install_requires=["torch>=2.1,<2.3", "tqdm<4"])\n', (2, 3)),
        ("setup.py", 'setup(install_requires=["torch", "tqdm<1"])\n', None),
        ("pyproject.toml", 'dependencies = ["torch (>=1.8,<2.0)"]\n', (2, 0)),
        ("pyproject.toml", 'torch = "^1.9"\n', (2, 0)),
        ("pyproject.toml", 'torch = "1.13.1"\n', (1, 14)),
    ],
)
def test_what_a_text_rules_out(name: str, text: str, beyond: Version | None) -> None:
    assert first_torch_beyond(iter([(name, text)])) == beyond


@pytest.mark.parametrize(
    ("text", "oldest"),
    [
        ("torch>=1.8\n", (1, 8)),
        ("torch>1.6,!=1.7,<3\n", (1, 6)),
        ("torch>=2.1\ntorch==2.4.1\n", (2, 1)),
        ("torch~=2.3.0\n", (2, 3)),
        ("torch<2.4\n", None),
        ("torch>=1.8\ntorch\n", None),
        ("numpy\n", None),
    ],
)
def test_the_oldest_that_a_text_lets_in(text: str, oldest: Version | None) -> None:
    assert oldest_torch([("requirements.txt", text)]) == oldest


@pytest.mark.parametrize(
    ("text", "beyond"),
    [
        ("Run `pip install torch==1.11.0 --extra-index-url https://example.org/cu113`.\n", (1, 12)),
        ("```\nconda install pytorch==1.7.0 torchvision==0.8.0 cudatoolkit=10.2 -c pytorch\n```\n", (1, 8)),
        ("conda create -n pytorch python=3.7 pytorch=1.4 -c pytorch -c nvidia\n", (1, 5)),
        ("FROM pytorch/pytorch:1.6.0-cuda10.1-cudnn7-runtime\n", (1, 7)),
        ("FROM registry.example.org/pytorch/pytorch:2.1.0-cuda12.1\nRUN pip install tqdm\n", (2, 2)),
        ("RUN pip3 install --no-cache-dir \\\n    'torch<2.4' \\\n    numpy\n", (2, 4)),
        ("pip install torch==1.9.1+cu111\npip install torch==1.12.0\n", (1, 13)),
        ("pip install torch==1.9.1\npip install torch\n", None),
        ("pip install torch==1.9.0 # torch >= 1.9.0 recommended\n", (1, 10)),
        ("# pip install torch==1.9.1\n", None),
        ("Developed with torch 1.7, other versions should work.\n", None),
        ("pip install torchvision==0.8 pytorch-lightning==1.7.7\n", None),
        ("poetry add torch^2.1\n", (3, 0)),
        ("", None),
    ],
)
def test_what_the_commands_of_a_text_rule_out(text: str, beyond: Version | None) -> None:
    assert first_torch_beyond([("README.md", commanded(text))]) == beyond


@pytest.mark.parametrize(
    ("text", "beyond"),
    [
        ("## Requirements\n\n- Python 3.6\n- PyTorch 1.3.1\n", (1, 4)),
        ("* Python 3.8\n* PyTorch install 1.7.1\n* torchvision\n", (1, 8)),
        ("* pytorch 0.4.0\n", (0, 5)),
        ("1. **PyTorch**: 1.9\n", (1, 10)),
        ("- [PyTorch](https://pytorch.org) 1.7.1\n", (1, 8)),
        ("- `torch==1.9.1`\n", (1, 10)),
        ("The code requires PyTorch 1.x and Python 3.\n", (2, 0)),
        ("- torch<2.0\n", (2, 0)),
        ("- PyTorch 1.7+ and torchvision 0.8+\n", None),
        ("- PyTorch >= 1.8\n", None),
        ("- PyTorch ≥ 1.8\n", None),
        ("- PyTorch 0.4.1 or above\n", None),
        ("- PyTorch 1.13 (or later)\n", None),
        ("- PyTorch 1.3 / 1.4\n", None),
        ("- PyTorch 1.3, 1.4\n", None),
        ("- PyTorch (>= 1.0)\n", None),
        ("- PyTorch 1.3.1\n- PyTorch 1.4 or later\n", None),
        ("Tested with PyTorch 1.8 and Python 3.\n", None),
        ("Developed for PyTorch 1.7.1, but should work with other versions.\n", None),
        ("- pytorch-lightning 1.7\n", None),
        ("We updated the repository to PyTorch 1.1.\n", None),
    ],
)
def test_what_the_list_of_a_readme_rules_out(text: str, beyond: Version | None) -> None:
    assert first_torch_beyond([("README.md", listed(text))]) == beyond
