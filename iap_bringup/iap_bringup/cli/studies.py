# SPDX-License-Identifier: BSD-3-Clause
"""The commands ``iap experiment`` and ``iap bench``."""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from iap_bringup.cli.arguments.studies import OPTIONS
from iap_description.config.alternatives import alternatives
from iap_description.errors import BadInput


def experiment(options: argparse.Namespace) -> int:
    """Run a study and show its table."""
    from iap_bringup.experiments.table import run_experiment

    values = {name: value for name, value in vars(options).items() if name in OPTIONS}
    run_experiment(options.name, **values)
    return 0


def bench(options: argparse.Namespace) -> int:
    """Run the benchmarks of the source tree, and print what they print, or their figures as one line of JSON.

    Raises:
        BadInput: this is no checkout, or no benchmark has that name.
    """
    folder = _benchmarks()
    if options.name:
        _check_name(options.name, folder)
    from iap_simulation.batch.batch_support import check_device  # slow to import

    check_device(options.device)
    table = ["-v", "--benchmark-verbose"] if options.verbose else ["-qq", "--benchmark-quiet"]
    command = [
        sys.executable,
        *"-m pytest --benchmark-only -s -p no:cacheprovider".split(),
        *table,
    ]
    selection = ["-k", options.name] if options.name else []
    command += [str(folder), *selection, "--device", options.device]
    if not options.json:
        return subprocess.call(command)
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "figures.json"
        code = subprocess.call([*command, "--figures", str(path)], stdout=sys.stderr)
        if path.exists():  # pytest may end before it measures
            sys.stdout.write(path.read_text(encoding="utf-8") + "\n")
    return code


def _benchmarks() -> Path:
    roots = (*Path(__file__).resolve().parents, Path())
    folder = next((root / "benchmarks" for root in roots if (root / "benchmarks").is_dir()), None)
    if folder is None:
        raise BadInput("bench: no benchmarks here; run it from a checkout")
    return folder


def _check_name(name: str, folder: Path) -> None:
    """Refuse words that are in no benchmark's name.

    Raises:
        BadInput: naming those that there are.
    """
    files = sorted(folder.glob("test_*.py"))
    names = [each.stem for each in files]
    for each in files:  # functions, and names of their cases
        names += re.findall(r'def test_\w+|"[\w ,]+"', each.read_text(encoding="utf-8"))
    words = re.split(r" (?:and not|or not|and|or) ", name.lower())
    if not all(re.fullmatch(r"\w+", each) and each in " ".join(names).lower() for each in words):
        near = alternatives(name, [each.stem.removeprefix("test_") for each in files])
        raise BadInput(f"bench: no benchmark's name has '{name}' in it: {near}")
