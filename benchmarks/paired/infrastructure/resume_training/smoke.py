"""Trains two epochs, then takes the run up again for two more."""
import tempfile

from forecast.cli import main

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as out:
        first = main(["--out", out, "--epochs", "2"])
        second = main(["--out", out, "--epochs", "4"])
    assert second <= first
    print("ok")
