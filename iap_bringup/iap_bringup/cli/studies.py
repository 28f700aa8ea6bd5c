# SPDX-License-Identifier: BSD-3-Clause
"""The commands ``iap experiment`` and ``iap bench``."""

import argparse
import subprocess
import sys
from pathlib import Path

from iap_bringup.experiments.options import ExperimentOptions
from iap_bringup.experiments.studies import EXPERIMENTS, LOCALIZATION, run_experiment
from iap_description.errors import BadInput
from iap_simulation.batch.devices import check_device

NOTHING_CHOSEN = 5  # pytest's exit code


def add_experiment(parser: argparse.ArgumentParser) -> None:
    """Options of ``iap experiment``."""
    parser.description = "Run a study."
    studies = {**EXPERIMENTS, **LOCALIZATION}
    described = "; ".join(f"{name}: {study.__doc__}" for name, study in studies.items())
    parser.add_argument("name", choices=studies, help=described)
    parser.add_argument("--quick", action="store_true", help="less of it, in minutes")
    parser.add_argument(
        "--flights", type=Path, metavar="DIR", help="recordings in place of flights by hand"
    )
    parser.add_argument("--out", type=Path, help="new folder for tables and figures")
    parser.add_argument(
        "--since", type=float, default=0.0, metavar="S", help="virpo_units: where recordings begin"
    )
    parser.add_argument("--seconds", type=float, metavar="S", help="virpo_units: of a flight")
    parser.add_argument(
        "--scenarios",
        type=lambda text: tuple(text.split(",")),
        default=(),
        metavar="NAME,...",
        help="engines: only these",
    )
    parser.set_defaults(run=experiment)


def add_bench(parser: argparse.ArgumentParser) -> None:
    """Options of ``iap bench``."""
    parser.description = "Run the benchmarks (all, or those whose name fits)."
    parser.add_argument("name", nargs="?", help="part of a benchmark's name")
    parser.add_argument("--device", default="cpu", help="of worlds: cpu, or cuda on an NVIDIA GPU")
    parser.set_defaults(run=bench)


def experiment(options: argparse.Namespace) -> int:
    """Run a study and show its table."""
    given = ("quick", "flights", "out", "since", "seconds", "scenarios")
    run_experiment(options.name, ExperimentOptions(*(getattr(options, name) for name in given)))
    return 0


def bench(options: argparse.Namespace) -> int:
    """Run the benchmarks of the source tree."""
    check_device(options.device)
    roots = (*Path(__file__).resolve().parents, Path())
    folder = next((root / "benchmarks" for root in roots if (root / "benchmarks").is_dir()), None)
    if folder is None:
        raise BadInput("bench: no benchmarks here; run it from a checkout")
    command = [sys.executable, *"-m pytest --benchmark-only -q -s -p no:cacheprovider".split()]
    chosen = ["-k", options.name] if options.name else []
    done = subprocess.call([*command, str(folder), *chosen, "--device", options.device])
    if done == NOTHING_CHOSEN:
        files = [each.stem.removeprefix("test_") for each in sorted(folder.glob("test_*.py"))]
        raise BadInput(
            f"bench: no benchmark's name has '{options.name}' in it: {', '.join(files)}"
        )
    return done
