# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands take."""

import argparse

from iap_description.errors import BadInput
from iap_simulation.scenario.resolving import Options


def add_assignments(parser: argparse.ArgumentParser, what: str) -> None:
    """Option --set; `what` it changes."""
    parser.add_argument(
        "--set",
        dest="assignments",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"{what}; may be repeated",
    )


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Options of what is shown at the end."""
    parser.add_argument("--no-plot", action="store_true", help="leave the plots out")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print metrics.json as the only line of standard output",
    )


def add_sensor_options(parser: argparse.ArgumentParser) -> None:
    """Options of sensors and of the place."""
    parser.add_argument(
        "--sensors", help="sets of sensors for every vehicle, with commas; see 'iap list'"
    )
    parser.add_argument("--scene", help="place to fly in; see 'iap list'")


def add_scenario_options(parser: argparse.ArgumentParser) -> None:
    """Options of what is flown, see `scenario_options`."""
    parser.add_argument("--platform", help="fly this platform instead of the scenario's")
    parser.add_argument("--engine", help="physics: pybullet, mujoco or closed_form")
    parser.add_argument("--gains", help="gain preset (default or paper), or a YAML file of gains")
    parser.add_argument("--seed", type=int, help="seed of all noise")
    parser.add_argument("--duration", type=float, help="simulated time [s]")
    add_assignments(
        parser, "change any key of the resolved configuration, e.g. platform.center.mass=1.3"
    )
    add_sensor_options(parser)
    parser.add_argument(
        "--state-source",
        metavar="truth|METHOD",
        help="state that controllers use: the truth (default), or the estimate of a method: vio, vio_uwb, virpo, joint"
        " or drift_filter",
    )


def scenario_options(options: argparse.Namespace) -> Options:
    """The values of `add_scenario_options`.

    Raises:
        BadInput: a duration that is none.
    """
    if options.duration is not None and not options.duration > 0.0:
        raise BadInput(f"--duration {options.duration}: must be above 0")
    values = {name: getattr(options, name) for name in Options.model_fields}
    return Options(**{**values, "assignments": tuple(options.assignments)})
