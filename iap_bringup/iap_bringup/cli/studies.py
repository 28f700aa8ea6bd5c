# SPDX-License-Identifier: BSD-3-Clause
"""The commands ``iap experiment`` and ``iap bench``."""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from iap_bringup.experiments.studies import EXPERIMENTS, run_experiment
from iap_description.errors import BadInput
from iap_simulation.batch.batch_support import check_device

EXIT_MISUSE, EXIT_NO_TESTS = (
    4,
    5,
)  # pytest's exit codes of a wrong expression, and where nothing is selected


OPTIONS: dict[
    str, dict[str, Any]
] = {  # of studies; those that are left out are as each study has them
    "quick": {"action": "store_true", "help": "less of it, in minutes"},
    "flights": {
        "type": Path,
        "metavar": "DIR",
        "help": "recordings in place of flights by hand",
    },
    "out": {"type": Path, "help": "new folder for tables and figures"},
    "since": {"type": float, "metavar": "S", "help": "virpo_units: where recordings begin"},
    "seconds": {"type": float, "metavar": "S", "help": "virpo_units: of a flight"},
    "json": {"action": "store_true", "help": "node_bars: print the bars as one line"},
    "scenarios": {
        "type": lambda text: tuple(text.split(",")),
        "metavar": "NAME,...",
        "help": "engines: only these",
    },
}


def add_experiment(parser: argparse.ArgumentParser) -> None:
    """Options of ``iap experiment``."""
    parser.description = "Run a study."
    parser.add_argument(
        "name",
        choices=[each.name for each in EXPERIMENTS],
        help="; ".join(f"{each.name}: {each.text}" for each in EXPERIMENTS),
    )
    for name, form in OPTIONS.items():
        parser.add_argument(f"--{name}", default=argparse.SUPPRESS, **form)
    parser.set_defaults(run=experiment)


def add_bench(parser: argparse.ArgumentParser) -> None:
    """Options of ``iap bench``."""
    parser.description = "Run the benchmarks (all, or those whose name fits)."
    parser.add_argument("name", nargs="?", help="part of a benchmark's name")
    parser.add_argument("--device", default="cpu", help="of worlds: cpu, or cuda on an NVIDIA GPU")
    parser.set_defaults(run=bench)


def experiment(options: argparse.Namespace) -> int:
    """Run a study and show its table."""
    values = {name: value for name, value in vars(options).items() if name in OPTIONS}
    run_experiment(options.name, **values)
    return 0


def bench(options: argparse.Namespace) -> int:
    """Run the benchmarks of the source tree."""
    check_device(options.device)
    roots = (*Path(__file__).resolve().parents, Path())
    folder = next((root / "benchmarks" for root in roots if (root / "benchmarks").is_dir()), None)
    if folder is None:
        raise BadInput("bench: no benchmarks here; run it from a checkout")
    command = [sys.executable, *"-m pytest --benchmark-only -q -s -p no:cacheprovider".split()]
    command += [str(folder), "--device", options.device]
    if options.name:
        command += ["-k", options.name]
        _check_name(command, folder, options.name)
    return subprocess.call(command)


def _check_name(command: list[str], folder: Path, name: str) -> None:
    """Refuse a name that no benchmark has in it, before pytest says so in words of its own.

    Raises:
        BadInput: naming those that there are.
    """
    silent = subprocess.DEVNULL
    code = subprocess.call([*command, "--collect-only"], stdout=silent, stderr=silent)
    if code in (EXIT_NO_TESTS, EXIT_MISUSE):
        files = [each.stem.removeprefix("test_") for each in sorted(folder.glob("test_*.py"))]
        raise BadInput(f"bench: no benchmark's name has '{name}' in it: {', '.join(files)}")
