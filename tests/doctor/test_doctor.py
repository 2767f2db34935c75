"""Each cause on a machine made of files, and the machine that runs the tests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from torchdevlint import cli
from torchdevlint.cli.doctor import tell
from torchdevlint.doctor.diagnosis import Diagnosis, Report, examine
from torchdevlint.doctor.installs import NoSuchPython
from torchdevlint.doctor.machine import architectures, is_older, newest_cuda, oldest_driver
from torchdevlint.doctor.system import System

PYTHON = "/env/bin/python"
SITE = "/env/lib/python3.11/site-packages"
SMI = """\
| NVIDIA-SMI {driver}      Driver Version: {driver}    CUDA Version: {cuda}     |
|   0  NVIDIA A100 ...     On   | 00000000:01:00.0 Off |                    0 |
"""
QUERY = "nvidia-smi --query-gpu=name,compute_cap --format=csv,noheader"


def torch_files(
    version: str, cuda: str | None, site: str = SITE, tag: str = "manylinux_2_28_x86_64", hip: str | None = None
) -> dict[str, str]:
    return {
        f"{site}/torch/version.py": (
            f"from typing import Optional\n__version__ = '{version}'\ncuda: Optional[str] = {cuda!r}\nhip: Optional[str] = {hip!r}\n"
        ),
        f"{site}/torch-{version}.dist-info/METADATA": f"Metadata-Version: 2.4\nName: torch\nVersion: {version}\n",
        f"{site}/torch-{version}.dist-info/WHEEL": f"Wheel-Version: 1.0\nTag: cp311-cp311-{tag}\n",
    }


def driver_files(driver: str = "550.54.15") -> dict[str, str]:
    return {
        "/proc/driver/nvidia/version": f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {driver}  Tue Mar 5\n",
        "/proc/version": "Linux version 6.8.0",
        "/dev/nvidia0": "",
        "/dev/nvidiactl": "",
        "/dev/nvidia-uvm": "",
        "/sys/bus/pci/devices/0000:01:00.0/class": "0x030200\n",
        "/sys/bus/pci/devices/0000:01:00.0/vendor": "0x10de\n",
        f"/usr/lib/x86_64-linux-gnu/libcuda.so.{driver}": "",
    }


def smi(driver: str = "550.54.15", cuda: str = "12.4", gpus: str = "NVIDIA A100-SXM4-80GB, 8.0\n") -> dict[str, str]:
    return {"nvidia-smi": SMI.format(driver=driver, cuda=cuda), QUERY: gpus}


GOOD = {**torch_files("2.6.0+cu124", "12.4"), **driver_files()}


def system(
    root: Path,
    files: Mapping[str, str],
    commands: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    platform: str = "linux",
    machine: str = "x86_64",
) -> System:
    for path, text in {PYTHON: "", **files}.items():
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return System(str(root), environ or {}, platform, machine, commands or {}, "/home/me/project")


def look(*arguments: object, **keywords: object) -> Report:
    return examine(system(*arguments, **keywords), PYTHON)  # type: ignore[arg-type]


def causes(report: Report) -> list[str]:
    return [cause.cause for cause in report.causes]


def first(report: Report, cause: str) -> Diagnosis:
    assert causes(report)[:1] == [cause], report.causes
    return report.causes[0]


def test_a_machine_that_works(tmp_path: Path) -> None:
    report = look(tmp_path, GOOD, smi())
    assert report.is_clear, report.causes
    assert [(gpu.name, gpu.capability) for gpu in report.machine.gpus] == [("NVIDIA A100-SXM4-80GB", (8, 0))]
    assert (report.machine.driver, report.machine.newest_cuda) == ("550.54.15", "12.4")


def test_a_wheel_of_the_default_index_has_no_local_version_in_its_metadata(tmp_path: Path) -> None:
    files = {**GOOD, f"{SITE}/torch-2.6.0.dist-info/METADATA": "Name: torch\nVersion: 2.6.0\n"}
    assert look(tmp_path, files, smi()).is_clear


def test_no_torch(tmp_path: Path) -> None:
    files = {**driver_files(), f"{SITE}/numpy/__init__.py": ""}
    found = first(look(tmp_path, files, smi()), "no-torch")
    assert found.mend == ("/env/bin/python -m pip install torch",)


def test_a_cpu_only_wheel(tmp_path: Path) -> None:
    files = {**torch_files("2.13.0+cpu", None), **driver_files("580.65.06")}
    found = first(look(tmp_path, files, smi("580.65.06", "13.0")), "cpu-only-torch")
    assert found.mend == ("/env/bin/python -m pip install --force-reinstall --no-cache-dir torch",)


def test_a_cpu_only_wheel_and_a_driver_that_is_too_old_for_the_plain_one(tmp_path: Path) -> None:
    files = {**torch_files("2.13.0+cpu", None), **driver_files("470.86")}
    found = first(look(tmp_path, files, smi("470.86", "11.4")), "cpu-only-torch")
    assert found.mend[0].endswith("torch --index-url URL")
    assert "take a platform of CUDA 11.x" in found.notes[0]


def test_the_plain_wheel_of_windows_is_for_the_cpu(tmp_path: Path) -> None:
    made = system(
        tmp_path, torch_files("2.6.0+cpu", None, "/env/Lib/site-packages"), smi(), platform="win32", machine="AMD64"
    )
    found = first(examine(made, "/env"), "cpu-only-torch")
    assert "--index-url URL" in found.mend[0]


def test_no_driver(tmp_path: Path) -> None:
    files = {
        **torch_files("2.6.0+cu124", "12.4"),
        "/sys/bus/pci/devices/0000:01:00.0/class": "0x030000\n",
        "/sys/bus/pci/devices/0000:01:00.0/vendor": "0x10de\n",
        "/proc/modules": "nouveau 2273280 0 - Live\n",
    }
    found = first(look(tmp_path, files), "no-driver")
    assert "the module nouveau is loaded in its place" in found.evidence
    assert found.mend[0] == "sudo modprobe nvidia"


def test_no_gpu_at_all(tmp_path: Path) -> None:
    files = {
        **torch_files("2.6.0+cu124", "12.4"),
        "/sys/bus/pci/devices/0000:01:00.0/class": "0x030000\n",
        "/sys/bus/pci/devices/0000:01:00.0/vendor": "0x1002\n",
    }
    found = first(look(tmp_path, files), "no-gpu")
    assert found.evidence == ("the PCI bus shows display controllers of AMD alone",)
    assert found.notes == ("torch for AMD: the ROCm wheels",)


@pytest.mark.parametrize(
    ("driver", "torch", "is_told"),
    [
        ("470.86", "12.1", True),
        ("470.86", "11.8", False),  # minor version compatibility
        ("525.60.13", "12.8", False),
        ("570.10", "13.0", True),
        ("580.65.06", "13.0", False),
        ("440.33", "11.1", True),
    ],
)
def test_an_old_driver(driver: str, torch: str, is_told: bool, tmp_path: Path) -> None:
    files = {**torch_files(f"2.6.0+cu{torch.replace('.', '')}", torch), **driver_files(driver)}
    report = look(tmp_path, files, smi(driver, newest_cuda(driver)))
    assert ("old-driver" in causes(report)) is is_told
    if is_told:
        assert f"driver {driver} knows CUDA up to" in first(report, "old-driver").evidence[0]


@pytest.mark.parametrize(
    ("torch", "cuda", "gpu", "is_told"),
    [
        ("1.10.0+cu102", "10.2", "NVIDIA GeForce RTX 3090, 8.6", True),
        ("1.13.1+cu117", "11.7", "NVIDIA GeForce RTX 4090, 8.9", False),  # code for 8.6 runs on 8.9
        ("2.6.0+cu124", "12.4", "NVIDIA GeForce RTX 5090, 12.0", True),
        ("2.7.0+cu128", "12.8", "NVIDIA GeForce RTX 5090, 12.0", False),
        ("2.11.0+cu128", "12.8", "Tesla V100-SXM2-16GB, 7.0", True),
        ("2.9.0+cu128", "12.8", "Tesla V100-SXM2-16GB, 7.0", False),
        ("2.9.0+cu126", "12.6", "NVIDIA GeForce GTX 1080, 6.1", False),
        ("2.9.0+cu130", "13.0", "NVIDIA GeForce GTX 1080, 6.1", True),
        ("2.3.0+cu118", "11.8", "Tesla K80, 3.7", True),
    ],
)
def test_an_architecture(torch: str, cuda: str, gpu: str, is_told: bool, tmp_path: Path) -> None:
    files = {**torch_files(torch, cuda), **driver_files("580.65.06")}
    report = look(tmp_path, files, smi("580.65.06", "13.0", gpu + "\n"))
    assert causes(report) == ["architecture"] * is_told
    if is_told:
        assert gpu.split(",")[0] in report.causes[0].evidence[0]


@pytest.mark.parametrize(
    ("value", "is_told"),
    [
        ("", True),
        ("-1", True),
        ("NoDevFiles", True),
        ("1", True),
        ("0", False),
        ("GPU-8932f937", False),
        ("cuda:0", True),
        ("0,1", False),
    ],
)
def test_visible_devices(value: str, is_told: bool, tmp_path: Path) -> None:
    report = look(tmp_path, GOOD, smi(), {"CUDA_VISIBLE_DEVICES": value})
    assert causes(report) == ["hidden-gpus"] * is_told
    if is_told:
        assert report.causes[0].mend == ("unset CUDA_VISIBLE_DEVICES",)


def test_a_container_without_devices(tmp_path: Path) -> None:
    files = {**torch_files("2.6.0+cu124", "12.4"), "/.dockerenv": ""}
    assert first(look(tmp_path / "hidden", files), "container-without-gpu").certainty == "likely"
    seen = {**files, **driver_files()}
    for name in ("nvidia0", "nvidiactl", "nvidia-uvm"):
        del seen[f"/dev/{name}"]
    found = first(look(tmp_path / "module", seen), "container-without-gpu")
    assert (found.certainty, found.mend) == ("certain", ("docker run --gpus all ...",))
    bus = {**files, **{path: text for path, text in driver_files().items() if path.startswith("/sys")}}
    assert first(look(tmp_path / "bus", bus), "container-without-gpu").certainty == "certain"


def test_a_container_that_was_given_none(tmp_path: Path) -> None:
    report = look(tmp_path, {**GOOD, "/.dockerenv": ""}, smi(), {"NVIDIA_VISIBLE_DEVICES": "void"})
    assert causes(report) == ["hidden-gpus"]


def test_several_torches(tmp_path: Path) -> None:
    user = "/home/me/.local/lib/python3.11/site-packages"
    files = {**torch_files("2.5.0+cpu", None), **torch_files("2.6.0+cu124", "12.4", user), **driver_files()}
    report = look(tmp_path, files, smi(), {"HOME": "/home/me"})
    assert causes(report) == ["cpu-only-torch", "several-torches"]
    assert report.causes[1].certainty == "likely"
    assert report.causes[1].evidence[1] == f"2.6.0+cu124 in {user}"


def test_an_environment_with_the_systems_packages_and_path_files(tmp_path: Path) -> None:
    files = {
        **torch_files("2.6.0+cu124", "12.4", "/usr/lib/python3/dist-packages"),
        **torch_files("2.5.0+cu121", "12.1", "/opt/more"),
        "/env/pyvenv.cfg": "home = /usr/bin\ninclude-system-site-packages = true\n",
        f"{SITE}/more.pth": "# a comment\nimport os; os.system('touch /tmp/no')\n/missing\n",
        f"{SITE}/other.pth": "../more\n",
        "/env/lib/python3.11/more/torch/version.py": "__version__ = '1.0'\n",
    }
    report = look(tmp_path, files, smi())
    assert [torch.version for torch in report.torches] == ["1.0", "2.6.0+cu124"]


def test_mixed_versions(tmp_path: Path) -> None:
    files = {**GOOD, f"{SITE}/torch-2.6.0+cu124.dist-info/METADATA": "Name: torch\nVersion: 2.5.1\n"}
    assert (
        "METADATA says 2.5.1, torch/version.py says 2.6.0+cu124"
        in first(look(tmp_path, files, smi()), "mixed-torch").evidence[0]
    )


def test_a_file_that_is_called_torch(tmp_path: Path) -> None:
    report = look(tmp_path, {**GOOD, "/home/me/project/torch.py": "x = 1\n"}, smi())
    assert first(report, "shadowed-torch").mend == ("mv /home/me/project/torch.py /home/me/project/torch_mine.py",)


def test_mps(tmp_path: Path) -> None:
    plist = "/System/Library/CoreServices/SystemVersion.plist"

    def mac(name: str, version: str, tag: str, machine: str, macos: str) -> Report:
        files = {
            **torch_files(version, None, tag=tag),
            plist: f"<key>ProductVersion</key>\n\t<string>{macos}</string>\n",
        }
        return look(tmp_path / name, files, platform="darwin", machine=machine)

    assert mac("good", "2.6.0", "macosx_11_0_arm64", "arm64", "14.2").is_clear
    assert causes(mac("rosetta", "2.2.0", "macosx_10_9_x86_64", "x86_64", "14.2")) == ["mps-not-built"]
    assert causes(mac("wheel", "2.2.0", "macosx_10_9_x86_64", "arm64", "14.2")) == ["mps-not-built"]
    assert causes(mac("torch", "1.11.0", "macosx_11_0_arm64", "arm64", "14.2")) == ["mps-not-built"]
    assert causes(mac("macos", "2.0.0", "macosx_11_0_arm64", "arm64", "12.2.1")) == ["old-macos"]


def test_version_skew(tmp_path: Path) -> None:
    files = {
        **GOOD,
        f"{SITE}/torchvision-0.20.0.dist-info/METADATA": "Name: torchvision\nRequires-Dist: numpy\nRequires-Dist: torch (==2.5.0)\n",
        f"{SITE}/torchaudio-2.6.0+cpu.dist-info/METADATA": "Name: torchaudio\nRequires-Dist: torch (==2.6.0)\n",
        f"{SITE}/torch_scatter-2.1.1+pt20cu118.dist-info/METADATA": "Name: torch-scatter\n",
        f"{SITE}/flash_attn-2.7.4+cu12torch2.6.dist-info/METADATA": "Name: flash-attn\n",
    }
    found = first(look(tmp_path, files, smi()), "version-skew")
    assert [line.split(";")[0] for line in found.evidence] == [
        "torch_scatter 2.1.1+pt20cu118 is built for torch 2.0",
        "torchaudio 2.6.0+cpu is built for the CPU",
        "torchvision 0.20.0 requires torch 2.5.0",
    ]


def test_a_driver_that_was_updated(tmp_path: Path) -> None:
    said = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.54\n"
    found = first(look(tmp_path, GOOD, {"nvidia-smi": said, QUERY: said}), "driver-mismatch")
    assert found.mend == ("sudo reboot",)


def test_device_files(tmp_path: Path) -> None:
    files = {path: text for path, text in GOOD.items() if path != "/dev/nvidia-uvm"}
    assert causes(look(tmp_path / "uvm", files, smi())) == ["no-device-files"]


def test_a_build_for_another_maker(tmp_path: Path) -> None:
    files = {**torch_files("2.6.0+rocm6.2", None, hip="6.2.4"), **driver_files()}
    assert causes(look(tmp_path, files, smi())) == ["wrong-build"]


def test_windows_subsystem(tmp_path: Path) -> None:
    files = {
        **torch_files("2.6.0+cu124", "12.4"),
        "/proc/version": "Linux version 5.15 microsoft-standard-WSL2",
        "/dev/dxg": "",
    }
    assert look(tmp_path, files, smi()).is_clear


def test_what_cannot_be_known_is_not_claimed(tmp_path: Path) -> None:
    assert architectures((9, 0), (1, 0)) is None
    assert (oldest_driver((14, 0)), newest_cuda(""), is_older("", "450.80.02")) == ("", "", False)
    files = {**torch_files("2.6.0a0+git123", "14.1"), **driver_files()}
    assert look(tmp_path, files, {"nvidia-smi": "", QUERY: ""}).is_clear


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = system(
        tmp_path,
        {**torch_files("2.13.0+cpu", None), **driver_files("580.65.06")},
        smi("580.65.06", "13.0"),
        {"CUDA_VISIBLE_DEVICES": "\x1b[31m"},
    )
    assert tell(made, PYTHON, as_json=False) == 1
    out = capsys.readouterr().out
    assert out.startswith("1. this torch is built for the CPU alone (certain)\n")
    assert "   $ /env/bin/python -m pip install --force-reinstall --no-cache-dir torch\n" in out
    assert "\x1b" not in out
    assert tell(made, PYTHON, as_json=True) == 1
    report = json.loads(capsys.readouterr().out)
    assert [cause["cause"] for cause in report["causes"]] == ["cpu-only-torch", "hidden-gpus"]
    assert report["torch"][0]["version"] == "2.13.0+cpu"
    assert report["machine"]["gpus"] == [{"name": "NVIDIA A100-SXM4-80GB", "capability": [8, 0]}]
    assert tell(system(tmp_path / "good", GOOD, smi()), PYTHON, as_json=False) == 0
    assert capsys.readouterr().out.startswith("Nothing was found that keeps torch from a GPU.")


def test_no_such_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NoSuchPython):
        examine(system(tmp_path, {}), "/nowhere/python")
    assert cli.main(["doctor", "--python", str(tmp_path / "python")]) == 2
    assert "no such interpreter" in capsys.readouterr().err


def test_the_machine_that_runs_the_tests() -> None:
    probe = (
        "import sys; from torchdevlint import cli; code = cli.main(['doctor', '--json']); "
        "print(code, 'torch' in sys.modules, 'libcst' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=120)
    report = json.loads(done.stdout)
    code, torch, libcst = done.stderr.split()
    assert (code, torch, libcst) == ("01"[bool(report["causes"])], "False", "False")
    told = [cause["cause"] for cause in report["causes"]]
    assert ("no-torch" in told) == (not report["torch"])
    if report["torch"] and report["torch"][0]["version"].endswith("+cpu"):
        assert told[0] == "cpu-only-torch"
