# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of ``iap experiment``, ``bench``, ``fuzz``, ``list`` and ``urdf``."""

import argparse
import textwrap
from pathlib import Path
from typing import Any

from iap_bringup.cli.arguments.parser import CommandParser, Later, help_width
from iap_description.config.alternatives import alternatives

NAME_WIDTH = 20  # of the column of names in the help [characters]

OPTIONS: dict[
    str, dict[str, Any]
] = {  # of studies; those that are left out are as each study has them
    "quick": {"action": "store_true", "help": "fly fewer cases, in minutes"},
    "flights": {
        "type": Path,
        "metavar": "DIR",
        "help": "folder of recordings that replace flights of the scripted pilot (default: none)",
    },
    "logs": {
        "type": Path,
        "metavar": "DIR",
        "help": "flight_logs: folder of flight logs (default: none)",
    },
    "firmware": {
        "type": Path,
        "metavar": "FILE.yaml",
        "help": "firmware: file with the key `firmware`, such as a newer Betaflight's (default: that of the package)",
    },
    "out": {
        "type": Path,
        "metavar": "DIR",
        "help": "folder to create for tables and figures (default: none; films: docs/pictures; modules: folder of"
        " flights, with which the same command goes on)",
    },
    "since": {
        "type": float,
        "metavar": "S",
        "help": "virpo_units: time of the recordings to begin at [s] (default: 0)",
    },
    "seconds": {
        "type": float,
        "metavar": "S",
        "help": "virpo_units: duration of a flight [s] (default: to the end)",
    },
    "json": {"action": "store_true", "help": "print the figures as one line"},
    "scenarios": {
        "type": lambda text: tuple(text.split(",")),
        "metavar": "NAME,...",
        "help": "engines: scenarios to fly (default: all)",
    },
}


LISTED = (  # kinds of `iap_bringup.cli.listing`, which takes time to import
    "scenarios",
    "platforms",
    "gains",
    "engines",
    "firmwares",
    "sensors",
    "scenes",
    "methods",
    "presets",
    "frontends",
    "tasks",
    "policies",
    "experiments",
    "plots",
)


def _kind(name: str) -> str:
    """A kind that is listed; the singular is taken, too.

    Raises:
        ArgumentTypeError: there is no such kind.
    """
    fits = [each for each in LISTED if name in (each, each.removesuffix("s"))]
    if not fits:
        raise argparse.ArgumentTypeError(f"unknown '{name}': {alternatives(name, LISTED)}")
    return fits[0]


def _study_names() -> str:
    """A table of the studies: name, options, and a text that is folded beside them."""
    from iap_bringup.experiments.table import EXPERIMENTS

    lines = ["studies:"]
    for each in EXPERIMENTS:
        options = " ".join(f"--{name}" for name in each.options)
        text = f"{each.text} {f'[{options}]' if options else ''}".rstrip()
        lines += textwrap.wrap(
            text,
            help_width(),
            initial_indent=f"  {each.name:{NAME_WIDTH}}",
            subsequent_indent=" " * (NAME_WIDTH + 2),
            break_on_hyphens=False,
        )
    return "\n".join(lines)


def _kind_names() -> str:
    from iap_bringup.fuzz.inputs import KINDS

    return f"kinds: {', '.join(KINDS)}"


def add_experiment(parser: CommandParser) -> None:
    """Options of ``iap experiment``."""
    from iap_bringup.experiments.table import EXPERIMENTS

    parser.description = "Run a study and print its table."
    parser.examples = (
        "iap experiment engines --scenarios hover,wall_push",
        "iap experiment modules --quick",
        "iap experiment readme --json",
    )
    parser.names = _study_names
    parser.add_argument(
        "name",
        choices=[each.name for each in EXPERIMENTS],
        metavar="NAME",
        help="name of a study",
    )
    for name, form in OPTIONS.items():
        parser.add_argument(f"--{name}", default=argparse.SUPPRESS, **form)
    parser.set_defaults(run=Later("studies", "experiment"))


def add_bench(parser: CommandParser) -> None:
    """Options of ``iap bench``."""
    parser.description = "Run benchmarks, all or those with a name, and print their figures."
    parser.examples = ("iap bench parallel", "iap bench parallel --device cuda")
    parser.add_argument(
        "name", nargs="?", help="part of the names of the benchmarks to run (default: all)"
    )
    parser.add_argument(
        "--device",
        default="cpu",
        help="device of the worlds: cpu, or cuda on an NVIDIA GPU (default: cpu)",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="print tables of times, too")
    parser.add_argument(
        "--json", action="store_true", help="print the figures as one line of JSON"
    )
    parser.set_defaults(run=Later("studies", "bench", compiles=False))


def add_fuzz(parser: CommandParser) -> None:
    """Options of ``iap fuzz``."""
    parser.description = (
        "Try damaged files and options of every kind on every command. Each case must end within a minute and 2 GB,"
        " with exit code 0, 1 or 2. A refusal must be one line, and leave no folder that looks complete."
    )
    parser.examples = (
        "iap fuzz --cases 50",
        "iap fuzz --kind sensors --kind mesh",
        "iap fuzz --seed 7 --only 12 --keep faults",
    )
    parser.add_argument(
        "--cases", type=int, default=200, metavar="N", help="number of cases (default: 200)"
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="seed of all damage (default: a new one)"
    )
    parser.add_argument(
        "--only",
        type=int,
        metavar="N",
        help="number of one case to repeat, whose files --keep keeps (default: all cases)",
    )
    parser.names = _kind_names
    parser.add_argument(
        "--kind",
        action="append",
        default=[],
        metavar="NAME",
        help="kind of the cases to try (default: all); may be repeated",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="DIR",
        help="folder that keeps the files of cases with a fault (default: none)",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as one line")
    parser.set_defaults(run=Later("fuzz", "run"))


def add_list(parser: CommandParser) -> None:
    """Options of ``iap list``."""
    parser.description = "List scenarios, platforms, sensors and other names, all or some kinds; or show a platform."
    parser.examples = ("iap list", "iap list platforms gains", "iap list --platform three_star")
    parser.add_argument(
        "kinds",
        nargs="*",
        type=_kind,
        metavar="KIND",
        help=f"kinds to list (default: all): {', '.join(LISTED)}",
    )
    parser.add_argument("--json", action="store_true", help="print names and texts as one line")
    parser.add_argument(
        "--platform",
        metavar="NAME|FILE.yaml",
        help="show joints, limits, rank and controllable directions of a platform (default: the lists)",
    )
    parser.set_defaults(run=Later("listing", "list_all", compiles=False))


def add_urdf(parser: CommandParser) -> None:
    """Options of ``iap urdf``."""
    parser.description = "Print a platform's URDF."
    parser.examples = ("iap urdf three_star > three_star.urdf", "iap urdf my_platform.yaml")
    parser.add_argument(
        "platform",
        help="name of a platform (three_star, star_5, f450, ...) or path of its YAML file",
    )
    parser.add_argument(
        "--target",
        choices=["ros", "bullet"],
        default="ros",
        help="program that reads it: ros, or bullet for PyBullet (default: ros)",
    )
    parser.set_defaults(run=Later("urdf", "print_urdf", compiles=False))
